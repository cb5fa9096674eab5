/** One step of the ordered list: its handle, its author's words beside its call, what is risky about it. */
import { useSortable } from "@dnd-kit/sortable";
import { memo } from "react";
import { Mark } from "@/parts/StateMark";
import { callInShort, type Step } from "@/parts/steps/steps";
import type { RiskKind } from "./Risks";
import { RiskChip } from "./Risks";

export interface RowActions {
  choose: (id: string) => void;
  skip: (step: Step) => void;
  remove: (step: Step) => void;
}

export const StepRow = memo(function StepRow({
  step,
  goal,
  chosen,
  whyNot,
  risks,
  refuses,
  actions,
}: {
  step: Step;
  /** The goal that begins with this row. */
  goal: string | null;
  chosen: boolean;
  whyNot: string | null;
  risks: readonly RiskKind[];
  /** While a step is dragged over this row: what that would break. */
  refuses: string | null;
  actions: RowActions;
}) {
  const { attributes, listeners, setNodeRef, setActivatorNodeRef, transform, transition, isDragging } = useSortable({
    id: step.id,
    disabled: whyNot !== null,
  });
  const skipped = step.status === "skipped";
  const name = step.description || step.id;
  const moving = transform ? `translate3d(0, ${Math.round(transform.y)}px, 0)` : undefined;
  return (
    <li
      ref={setNodeRef}
      className={`plan-item ${isDragging ? "dragging" : ""} ${refuses ? "refuses" : ""}`}
      style={{ transform: moving, transition }}
    >
      {goal && <p className="plan-goal small soft">{goal}</p>}
      <div className={`plan-row ${chosen ? "chosen" : ""} ${skipped ? "skipped" : ""}`}>
        <button
          type="button"
          className="plan-handle"
          ref={setActivatorNodeRef}
          {...attributes}
          {...listeners}
          aria-disabled={whyNot !== null}
          aria-label={`Move step ${step.order}, ${name}`}
          title={whyNot ?? "Drag to another place, or press Space and the arrow keys"}
        >
          <span aria-hidden="true">⠿</span>
        </button>
        <button type="button" className="plan-main" data-step={step.id} onClick={() => actions.choose(step.id)}>
          <span className="plan-order soft">{step.order}</span>
          <span className="plan-words">{name}</span>
          <code className="plan-call soft">{callInShort(step, "scene")}</code>
          <span className="row plan-chips">
            {skipped && (
              <span className="chip">
                <Mark state="skipped" size={12} /> Skipped
              </span>
            )}
            {step.requiresApproval && (
              <span className="chip">
                <Mark state="waiting" size={12} /> Asks first
              </span>
            )}
            {risks.map((kind) => (
              <RiskChip key={kind} kind={kind} />
            ))}
          </span>
        </button>
        <span className="plan-acts">
          <button
            type="button"
            className="button small ghost"
            aria-disabled={whyNot !== null}
            title={whyNot ?? undefined}
            onClick={() => whyNot === null && actions.skip(step)}
          >
            {skipped ? "Unskip" : "Skip"}
            <span className="hidden-text"> {name}</span>
          </button>
          <button
            type="button"
            className="button small ghost"
            aria-disabled={whyNot !== null}
            title={whyNot ?? undefined}
            onClick={() => whyNot === null && actions.remove(step)}
          >
            Remove<span className="hidden-text"> {name}</span>
          </button>
        </span>
      </div>
      {refuses && <p className="plan-refuses small">{refuses}</p>}
    </li>
  );
});
