/**
 * What the plan would do, without doing it: on the map of its craft where there is one, over time, and as the diff of
 * the files it would write. A scrubber goes through it; where it stands is a part of the URL.
 */
import { Suspense, useEffect, useMemo } from "react";
import { get, type Refusal, type Schemas } from "@/api/client";
import { craftOf } from "@/crafts";
import { goWith, useQuery } from "@/frame/router";
import { useFetched } from "@/live/hooks";
import { Diff } from "@/parts/Diff";
import { Mark } from "@/parts/StateMark";
import type { Span } from "@/parts/steps/lanes";
import { span } from "@/parts/steps/steps";
import { Timeline } from "@/parts/steps/Timeline";
import { Loading, Problems, Refused } from "@/parts/Told";
import { type Playing, usePlaying } from "./playing";
import type { PlanDoc } from "./usePlan";

type Seen = Schemas["PreviewShape"];

export function Preview({
  plan,
  preview,
  refusal,
  chosen,
  onChoose,
}: {
  plan: PlanDoc;
  preview: Seen | undefined;
  refusal: Refusal | null;
  chosen: string | null;
  onChoose: (id: string) => void;
}) {
  return (
    <section className="card padded stack plan-preview" aria-label="Preview">
      <h2>Preview</h2>
      {refusal && <Refused refusal={refusal} />}
      {preview === undefined && refusal === null && <Loading what="what it would do" />}
      {preview && <Shown key={plan.version} plan={plan} preview={preview} chosen={chosen} onChoose={onChoose} />}
    </section>
  );
}

function Shown({
  plan,
  preview,
  chosen,
  onChoose,
}: {
  plan: PlanDoc;
  preview: Seen;
  chosen: string | null;
  onChoose: (id: string) => void;
}) {
  const [at] = useQuery("at");
  const playing = usePlaying(preview.durationS, Number(at) || 0);
  useKeptInUrl(playing);
  const spans = useMemo(() => spansOf(plan, preview), [plan, preview]);
  const now = preview.timeline.filter((line) => line.startS <= playing.atS && playing.atS < line.endS);
  const current = now.length > 0 ? now : lastBefore(preview, playing.atS);
  return (
    <>
      <p className="soft small">
        {span(preview.durationS)}
        {preview.moves > 0 && `, ${preview.moves} moves, ${preview.toolChanges} tool changes`}
        {(preview.approvals?.length ?? 0) > 0 && `, asks for approval of ${some(preview.approvals ?? [])}`}. Nothing has
        been done.
      </p>
      {preview.problems.length > 0 && (
        <div className="told bad" role="status">
          <Mark state="problem" />
          <Problems problems={preview.problems} />
        </div>
      )}
      <OnMap plan={plan} preview={preview} atS={playing.atS} />
      <Scrubber playing={playing} preview={preview} />
      <Timeline
        spans={spans}
        totalS={preview.durationS}
        atS={playing.atS}
        chosen={chosen}
        onChoose={(id) => {
          const line = preview.timeline.find((one) => String(one.stepId) === id);
          if (line) playing.seek(line.startS);
          onChoose(id);
        }}
      />
      <ul className="stack plan-now" aria-label="At this moment">
        {current.slice(0, 4).map((line) => (
          <li key={line.stepId} className="stack">
            <p>
              <button type="button" className="plan-link" onClick={() => onChoose(String(line.stepId))}>
                {line.stepId}
              </button>{" "}
              {line.says ?? line.name}
            </p>
            {line.diff && <Diff text={line.diff} label={`Changes by ${line.stepId}`} />}
          </li>
        ))}
      </ul>
      {preview.endSays && <p>{preview.endSays}</p>}
    </>
  );
}

const NAMED = 6;

function some(names: readonly string[]): string {
  const more = names.length - NAMED;
  return more > 0 ? `${names.slice(0, NAMED).join(", ")} and ${more} more` : names.join(", ");
}

function spansOf(plan: PlanDoc, preview: Seen): Span[] {
  const steps = new Map(plan.steps.map((step) => [step.id, step]));
  return preview.timeline.map((line) => {
    const step = steps.get(String(line.stepId));
    return {
      key: String(line.stepId),
      stepId: String(line.stepId),
      lane: step?.tool ?? line.tool ?? "",
      label: step?.description || line.name || String(line.stepId),
      state: line.destroys ? "error" : line.needsApproval ? "waiting" : "running",
      startS: line.startS,
      endS: line.endS,
    };
  });
}

function lastBefore(preview: Seen, atS: number) {
  const past = preview.timeline.filter((line) => line.startS <= atS);
  return past.length > 0 ? past.slice(-1) : preview.timeline.slice(0, 1);
}

function useKeptInUrl({ atS, on }: Playing): void {
  useEffect(() => {
    if (on) return;
    const timer = setTimeout(() => goWith({ at: atS > 0 ? atS.toFixed(2) : null }), 200);
    return () => clearTimeout(timer);
  }, [atS, on]);
}

function OnMap({ plan, preview, atS }: { plan: PlanDoc; preview: Seen; atS: number }) {
  const scene = useFetched(plan.scene ? `scene ${plan.scene}` : null, (signal) =>
    get("/api/v1/scenes/{name}", { path: { name: plan.scene ?? "" }, signal }),
  ).value;
  const PreviewMap = scene && craftOf(scene.kind)?.previewMap;
  if (!scene || !PreviewMap) return null;
  return (
    <Suspense fallback={<Loading what="the map" />}>
      <PreviewMap scene={scene} plan={plan} preview={preview} atS={atS} />
    </Suspense>
  );
}

function Scrubber({ playing, preview }: { playing: Playing; preview: Seen }) {
  const starts = useMemo(
    () => [...new Set(preview.timeline.map((line) => line.startS))].sort((one, other) => one - other),
    [preview],
  );
  const { atS, on, seek, toggle, rate } = playing;
  const tiny = Math.max(preview.durationS / 10_000, 1e-4);
  const previous = () => seek(starts.filter((start) => start < atS - tiny).at(-1) ?? 0);
  const next = () => seek(starts.find((start) => start > atS + tiny) ?? preview.durationS);
  return (
    <div className="plan-scrubber">
      <button type="button" className="button" onClick={toggle}>
        {on ? "Pause" : "Play"}
      </button>
      <button type="button" className="button ghost" onClick={previous} aria-label="The step before">
        ‹
      </button>
      <input
        type="range"
        aria-label="Time in the preview"
        aria-valuetext={`${span(atS)} of ${span(preview.durationS)}`}
        min={0}
        max={preview.durationS}
        step={Math.max(preview.durationS / 200, 1e-4)}
        value={atS}
        onChange={(event) => seek(Number(event.target.value))}
      />
      <button type="button" className="button ghost" onClick={next} aria-label="The next step">
        ›
      </button>
      <output className="small nowrap">
        {span(atS)} / {span(preview.durationS)}
        {Math.abs(rate - 1) > 0.01 && <span className="soft"> ×{rate < 0.1 ? rate.toFixed(3) : rate.toFixed(1)}</span>}
      </output>
    </div>
  );
}
