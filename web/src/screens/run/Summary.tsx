/** How far the run is, and how it ended: what was denied, cancelled or is in doubt stands apart from what was done. */
import { lookOf, Mark } from "@/parts/StateMark";
import type { RunDoc } from "./useRun";

const ORDER = [
  "completed",
  "running",
  "ready",
  "pending",
  "blocked",
  "skipped",
  "denied",
  "cancelled",
  "failed",
  "inDoubt",
];

export function Summary({ run }: { run: RunDoc }) {
  const counts = new Map<string, number>();
  for (const step of run.steps) counts.set(step.status, (counts.get(step.status) ?? 0) + 1);
  const done = (counts.get("completed") ?? 0) + (counts.get("skipped") ?? 0);
  const firstError = run.summary?.firstError;
  return (
    <section className="card padded stack run-summary" aria-label="Summary">
      <ul className="row run-counts">
        {ORDER.filter((state) => counts.has(state)).map((state) => (
          <li key={state} className={`state tone-${lookOf(state).tone}`} data-count={state}>
            <Mark state={state} /> {counts.get(state)} {lookOf(state).word.toLowerCase()}
          </li>
        ))}
        <li className="soft small">of {run.steps.length}</li>
      </ul>
      <div
        className="progress"
        role="progressbar"
        aria-label="Steps done"
        aria-valuemin={0}
        aria-valuemax={run.steps.length}
        aria-valuenow={done}
      >
        <span style={{ width: `${(done / Math.max(run.steps.length, 1)) * 100}%` }} />
      </div>
      {firstError && <p className="tone-bad">{firstError}</p>}
    </section>
  );
}
