/** Two people edited the same plan: both versions side by side, and which one goes on. */
import { get, type Refusal } from "@/api/client";
import { useFetched } from "@/live/hooks";
import { Dialog } from "@/parts/Dialog";
import { Arguments } from "@/parts/steps/StepCall";
import type { Step } from "@/parts/steps/steps";
import { Loading } from "@/parts/Told";
import { type Change, Changes, changesOf } from "./Changes";
import { Unsent } from "./Unsent";
import type { Edit, Editing } from "./useEditing";
import type { PlanDoc } from "./usePlan";

function afterEdits(step: Step, edits: readonly Edit[]): Step {
  const sets = edits.flatMap((edit) => (edit.op === "edit" && edit.id === step.id ? [edit.set] : []));
  return Object.assign({}, step, ...sets);
}

export function Conflict({
  plan,
  editing,
  refusal,
  read,
}: {
  plan: PlanDoc;
  editing: Editing;
  refusal: Refusal;
  read: (version: number) => void;
}) {
  const latest = Number(refusal.body.latestVersion);
  const theirs = useFetched(`${plan.id} ${latest}`, (signal) =>
    get("/api/v1/plans/{plan_id}", { path: { plan_id: plan.id }, query: { version: latest }, signal }),
  ).value;
  const { tried } = editing;
  if (tried === null) return null;
  const ids = tried.edits.flatMap((edit) => (edit.op === "edit" ? [edit.id] : []));
  const mine = plan.steps.filter((step) => ids.includes(step.id)).map((step) => afterEdits(step, tried.edits));
  return (
    <Dialog title="Somebody else changed this plan" onClose={editing.forget} wide>
      <p>{refusal.message}</p>
      <Unsent count={editing.unsent} />
      <div className="plan-conflict">
        <section className="stack" aria-label="Theirs">
          <h3>Theirs: version {latest}</h3>
          <Changes changes={(refusal.body.changes ?? []) as Change[]} />
          {theirs === undefined && <Loading what="their version" />}
          {theirs?.steps
            .filter((step) => ids.includes(step.id))
            .map((step) => (
              <Side key={step.id} step={step} />
            ))}
        </section>
        <section className="stack" aria-label="Mine">
          <h3>Mine: on version {tried.on}</h3>
          <Changes changes={changesOf(tried.edits, plan.steps)} />
          {mine.map((step) => (
            <Side key={step.id} step={step} />
          ))}
        </section>
      </div>
      <div className="row">
        <button
          type="button"
          className="button first"
          onClick={() => {
            editing.forget();
            read(latest);
          }}
        >
          Take theirs
        </button>
        <button type="button" className="button" onClick={() => void editing.send(tried.edits, { on: latest })}>
          Apply mine on top
        </button>
        <button type="button" className="button ghost" onClick={editing.forget}>
          Back
        </button>
      </div>
    </Dialog>
  );
}

function Side({ step }: { step: Step }) {
  return (
    <div className="card padded stack">
      <p>
        <code>{step.id}</code> {step.description && <span className="soft">“{step.description}”</span>}
      </p>
      <Arguments args={step.args} />
    </div>
  );
}
