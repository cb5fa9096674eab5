/** The sequence running on a cell with its present step, or the plan that waits; and stopping after this step. */
import { type Schemas, write } from "@/api/client";
import { Link } from "@/frame/router";
import { CommandButton } from "@/parts/Command";
import { Id } from "@/parts/Ids";
import { State } from "@/parts/StateMark";
import type { Waiting } from "./useCell";

type Run = Schemas["RunShape"];
const DONE = new Set(["completed", "skipped"]);
const TO_COME = new Set(["pending", "ready"]);

export function Sequence({ run, waiting }: { run: Run | null; waiting: Waiting | null }) {
  if (run) return <Running run={run} />;
  if (waiting)
    return (
      <section className="stack" aria-label="A plan that waits">
        <State state="waiting" word="Waits for review" />
        <p>{waiting.title}</p>
        <div className="row">
          <Link className="button" to={`/plans/${encodeURIComponent(waiting.planId)}`}>
            Review the plan
          </Link>
        </div>
      </section>
    );
  return <p className="soft">No plan runs or waits here.</p>;
}

function Running({ run }: { run: Run }) {
  const done = run.steps.filter((step) => DONE.has(step.status)).length;
  const at = run.steps.findIndex((step) => !DONE.has(step.status) && !TO_COME.has(step.status));
  const now = run.steps[at];
  return (
    <section className="stack" aria-label="The sequence running">
      <p className="row">
        <State state={run.paused ? "paused" : run.status} />
        <strong>{run.name}</strong>
        <Id field="runId" id={run.runId} />
      </p>
      <div
        className="progress"
        role="progressbar"
        aria-label="Steps done"
        aria-valuemin={0}
        aria-valuemax={run.steps.length}
        aria-valuenow={done}
      >
        <span style={{ width: `${(100 * done) / Math.max(1, run.steps.length)}%` }} />
      </div>
      <p className="soft">
        {done} of {run.steps.length} steps done
      </p>
      {now && (
        <p className="cell-now" data-step-id={now.id}>
          <State state={now.status} word={`Step ${at + 1}`} /> {now.description || now.tool}
        </p>
      )}
      <div className="row">
        <RunButton run={run} verb="stop-after-step" label="Stop after this step" />
        {run.paused && <RunButton run={run} verb="resume" label="Go on" />}
      </div>
    </section>
  );
}

function RunButton({ run, verb, label }: { run: Run; verb: "stop-after-step" | "resume"; label: string }) {
  const isStop = verb === "stop-after-step";
  return (
    <CommandButton
      label={label}
      whyNot={isStop && run.paused ? "It is paused already." : null}
      call={() => write("post", `/api/v1/runs/{run_id}/${verb}`, { path: { run_id: run.runId } }) as Promise<unknown>}
      done={Boolean(run.paused) === isStop}
    />
  );
}
