/** What became of the last edit: refused and why, with the repair that the scene's planner offers, or a conflict. */
import { Refused } from "@/parts/Told";
import { Conflict } from "./Conflict";
import { Unsent } from "./Unsent";
import type { Editing } from "./useEditing";
import type { PlanDoc } from "./usePlan";

export function EditTold({
  plan,
  editing,
  read,
}: {
  plan: PlanDoc;
  editing: Editing;
  read: (version: number) => void;
}) {
  const { refusal, tried } = editing;
  if (refusal === null || tried === null) return null;
  if (refusal.code === "plan.stale") return <Conflict plan={plan} editing={editing} refusal={refusal} read={read} />;
  const repair = refusal.body.repair as { says?: string } | undefined;
  return (
    <Refused refusal={refusal}>
      {repair?.says && <p>{repair.says}</p>}
      <Unsent count={editing.unsent} />
      <div className="row">
        {repair && (
          <button
            type="button"
            className="button small"
            onClick={() => void editing.send(tried.edits, { repair: true, on: tried.on })}
          >
            Take this repair
          </button>
        )}
        <button type="button" className="button small ghost" onClick={editing.forget}>
          Leave it as it was
        </button>
      </div>
    </Refused>
  );
}

/** What goes on with edits now; it takes up its line whether or not it says something. */
export function EditStage({ editing }: { editing: Editing }) {
  const { stage, waiting, repeated } = editing;
  const rest = waiting > 0 ? `; ${waiting === 1 ? "one more waits" : `${waiting} more wait`} for it` : "";
  const same = repeated ? ". That one is under way already" : "";
  return (
    <span className="plan-edit-stage soft small" role="status">
      {(stage === "asked" || waiting > 0 || repeated) && `The edit is being kept${rest}${same} …`}
    </span>
  );
}
