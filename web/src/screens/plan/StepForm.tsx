/** A step's words, arguments and what it waits for, changed by form and kept as the next version. */
import { type ReactNode, useMemo, useState } from "react";
import { SchemaForm } from "@/parts/Form";
import type { Step } from "@/parts/steps/steps";
import { formOf, type Tool } from "@/parts/steps/tools";
import { EditStage } from "./EditTold";
import type { Editing } from "./useEditing";

export function StepForm({
  step,
  tool,
  editing,
  told,
  onDone,
}: {
  step: Step;
  tool: Tool | undefined;
  editing: Editing;
  /** What became of it, beside the button that was pressed. */
  told: ReactNode;
  onDone: () => void;
}) {
  const [args, setArgs] = useState<Step["args"]>(step.args);
  const [description, setDescription] = useState(step.description ?? "");
  const [needs, setNeeds] = useState(step.dependsOn.join(", "));
  const [asks, setAsks] = useState(step.requiresApproval === true);
  const form = useMemo(() => formOf(tool, step.args), [tool, step.args]);
  const set: Record<string, unknown> = {};
  if (JSON.stringify(args) !== JSON.stringify(step.args)) set.args = args;
  if (description !== (step.description ?? "")) set.description = description;
  const names = needs.split(/[\s,]+/).filter(Boolean);
  if (names.join() !== step.dependsOn.join()) set.dependsOn = names;
  if (asks !== (step.requiresApproval === true)) set.requiresApproval = asks;
  const same = Object.keys(set).length === 0;
  const save = async () => {
    if (same || (await editing.send([{ op: "edit", id: step.id, set }]))) onDone();
  };
  return (
    <form
      className="stack"
      aria-label={`Edit ${step.id}`}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <div className="field">
        <label htmlFor="step-words">In words</label>
        <input
          id="step-words"
          className="input"
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
      </div>
      <SchemaForm
        schema={form}
        label="Arguments"
        value={args}
        onChange={(next) => setArgs((next ?? {}) as Step["args"])}
      />
      <div className="field">
        <label htmlFor="step-needs">
          Waits for<span className="soft small"> steps, with commas between them</span>
        </label>
        <input
          id="step-needs"
          className="input mono"
          value={needs}
          onChange={(event) => setNeeds(event.target.value)}
        />
      </div>
      <div className="field check">
        <input id="step-asks" type="checkbox" checked={asks} onChange={(event) => setAsks(event.target.checked)} />
        <label htmlFor="step-asks">Ask a person before it starts</label>
      </div>
      {told}
      <div className="row">
        <button type="submit" className="button first" aria-disabled={same}>
          Save as a new version
        </button>
        <button type="button" className="button ghost" onClick={onDone}>
          Back
        </button>
        <EditStage editing={editing} />
      </div>
    </form>
  );
}
