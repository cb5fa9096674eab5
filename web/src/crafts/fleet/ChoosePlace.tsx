/** Choosing on the map, or from a list, where a pallet goes when its task is aborted. */
import { useEffect, useMemo, useState } from "react";
import { goWith } from "@/frame/router";
import { StageWord, useCommand } from "@/parts/Command";
import { Dialog } from "@/parts/Dialog";
import { Refused } from "@/parts/Told";
import { askTask } from "./calls";
import { isService, lies, type Worksite } from "./model";
import type { Floor } from "./useFloor";

/** The places that can take a pallet now. */
export function usePlacesFor(floor: Floor, taskId: string | null): readonly Worksite[] {
  return useMemo(
    () =>
      taskId === null
        ? []
        : floor.sites.filter((site) => !isService(site) && site.occupancy === "empty" && lies(site) === "empty"),
    [floor.sites, taskId],
  );
}

interface Props {
  floor: Floor;
  taskId: string;
  places: readonly Worksite[];
  /** What was picked on the map. */
  picked: string | null;
  onPicked: (id: string | null) => void;
}

export function ChoosePlace({ floor, taskId, places, picked, onPicked }: Props) {
  const [isRefused, setRefused] = useState(false);
  const command = useCommand();
  const { forget } = command;
  const isFree = places.some((site) => site.worksiteId === picked);
  const leave = () => {
    onPicked(null);
    goWith({ choose: null, task: taskId, robot: null, worksite: null });
  };
  useEffect(() => {
    floor.painter.choose(new Set(places.map((site) => site.worksiteId)));
    return () => floor.painter.choose(null);
  }, [floor.painter, places]);
  useEffect(() => setRefused(picked !== null && !isFree), [picked, isFree]);
  // What was said of one place says nothing of the next.
  // biome-ignore lint/correctness/useExhaustiveDependencies: when another one is picked
  useEffect(forget, [picked]);
  const send = async () => {
    if (picked === null) return;
    const answer = await command.give(() => askTask(floor.scene, taskId, "abort", picked));
    if (answer !== undefined) leave();
  };
  return (
    <section className="floor-choose card" aria-label="Choose another place">
      <p className="spread">
        <strong>Choose the place for the pallet of {taskId}</strong>
        <span className="soft"> on the map, or here:</span>
        {isRefused && <span className="tone-wait" role="status">{` ${picked} is not empty and free.`}</span>}
      </p>
      <select
        className="select"
        aria-label="An empty place"
        value=""
        onChange={(event) => event.target.value && onPicked(event.target.value)}
      >
        <option value="">Places: {places.length}</option>
        {places.map((site) => (
          <option key={site.worksiteId} value={site.worksiteId}>
            {site.worksiteId}
          </option>
        ))}
      </select>
      <button type="button" className="button ghost" onClick={leave}>
        Back
      </button>
      {picked !== null && isFree && (
        <Dialog title={`Drop it at ${picked}?`} onClose={() => onPicked(null)}>
          <p>
            {taskId} is aborted, and its pallet goes to {picked} instead.
          </p>
          {command.refusal ? <Refused refusal={command.refusal} /> : <StageWord stage={command.stage} />}
          <div className="row">
            <button type="button" className="button first" onClick={() => void send()}>
              Drop it at {picked}
            </button>
            <button type="button" className="button ghost" onClick={() => onPicked(null)}>
              Back
            </button>
          </div>
        </Dialog>
      )}
    </section>
  );
}
