/** One fleet as the floor shows it: its document, what lives in it, and the painter that draws it. */
import { useEffect, useMemo, useRef, useState } from "react";
import { get, type Refusal, type Schemas } from "@/api/client";
import { useFetched, useList, useStore } from "@/live/hooks";
import { FloorPainter } from "./FloorPainter";
import { byName, documentOf, type Fleet, type FleetDocument, type Robot, type Task, type Worksite } from "./model";
import { Tracks } from "./tracks";
import { Ways } from "./ways";

export interface Floor {
  scene: string;
  document: FleetDocument;
  fleet: Fleet | undefined;
  robots: readonly Robot[];
  sites: readonly Worksite[];
  /** Those under way. */
  tasks: ReadonlyMap<string, Task>;
  painter: FloorPainter;
  tracks: Tracks;
}

export function useScene(name: string | null): { scene?: Schemas["SceneShape"]; refusal: Refusal | null } {
  const read = (signal: AbortSignal) => get("/api/v1/scenes/{name}", { path: { name: name ?? "" }, signal });
  const found = useFetched(name === null ? null : `scene ${name}`, read, (event) =>
    ["sceneSaved", "sceneActivated"].includes(event.kind),
  );
  return { scene: found.value as Schemas["SceneShape"] | undefined, refusal: found.refusal };
}

/** The rows of one scene, in the order of their names. That order is found once, not with every change of a row. */
export function useOfScene<T extends { scene: string }>(list: string, scene: string, id: (row: T) => string): T[] {
  const rows = useList<T>(list);
  const ranks = useRef<ReadonlyMap<string, number>>(new Map());
  // biome-ignore lint/correctness/useExhaustiveDependencies: what a row's name is does not change
  return useMemo(() => {
    const ours = [...rows.values()].filter((row) => row.scene === scene);
    if (ours.length !== ranks.current.size || ours.some((row) => !ranks.current.has(id(row))))
      ranks.current = new Map(
        ours
          .map(id)
          .sort(byName)
          .map((name, rank) => [name, rank]),
      );
    const rank = (row: T) => ranks.current.get(id(row)) ?? 0;
    return ours.sort((one, other) => rank(one) - rank(other));
  }, [rows, scene]);
}

const MANY = 300;
const SLOW_MS = 1_000;

/** A long list as it was within the last second: rows by the thousand are not drawn anew with every event. */
export function useSlow<T extends { length: number } | { size: number }>(value: T): T {
  const isLong = ("length" in value ? value.length : value.size) > MANY;
  const latest = useRef(value);
  latest.current = value;
  const [shown, setShown] = useState(value);
  useEffect(() => {
    if (!isLong) return;
    setShown(latest.current);
    const timer = setInterval(() => setShown(latest.current), SLOW_MS);
    return () => clearInterval(timer);
  }, [isLong]);
  return isLong ? shown : value;
}

/** The floor of a scene, drawn live. `document` stays the same thing while the scene does. */
export function useFloor(document: FleetDocument): Floor {
  const store = useStore();
  const scene = document.name;
  const painter = useMemo(() => {
    const ways = new Ways(document);
    return new FloorPainter(ways, new Tracks(ways));
  }, [document]);
  const { tracks } = painter;
  const robots = useOfScene<Robot>("robots", scene, (row) => row.robotId);
  const sites = useOfScene<Worksite>("worksites", scene, (row) => row.worksiteId);
  const tasks = useList<Task>("tasks");
  const fleet = useList<Fleet>("fleets").get(scene);
  useEffect(() => painter.setRobots(robots), [painter, robots]);
  useEffect(() => painter.setSites(sites), [painter, sites]);
  useEffect(() => painter.setTasks(tasks), [painter, tasks]);
  useEffect(
    () =>
      store.onFrame((frame) => {
        if (frame.kind !== "robots" || frame.scene !== scene) return;
        tracks.take(frame, performance.now());
        painter.changed.moving();
      }),
    [store, scene, painter, tracks],
  );
  useEffect(() => {
    // How long ago a silent robot was seen is told on the map too.
    const timer = setInterval(() => painter.changed.moving(), 5_000);
    return () => clearInterval(timer);
  }, [painter]);
  const ours = useMemo(() => new Map([...tasks].filter(([, task]) => task.scene === scene)), [tasks, scene]);
  return { scene, document, fleet, robots, sites, tasks: ours, painter, tracks };
}

export function useDocument(scene: Schemas["SceneShape"] | undefined): FleetDocument | null {
  return useMemo(() => (scene === undefined ? null : documentOf(scene)), [scene]);
}
