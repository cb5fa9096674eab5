/** Add a step: pick a tool, fill in its form, say where it goes. */
import { useMemo, useState } from "react";
import { Dialog } from "@/parts/Dialog";
import { blank, SchemaForm } from "@/parts/Form";
import { formOf, type Tool, useTools } from "@/parts/steps/tools";
import { EditTold } from "./EditTold";
import type { Editing } from "./useEditing";
import type { PlanDoc } from "./usePlan";

function freshId(plan: PlanDoc, tool: string): string {
  const base = tool.replaceAll(/[^\w-]+/g, "_");
  const taken = new Set(plan.steps.map((step) => step.id));
  for (let number = 1; ; number += 1) {
    const id = number === 1 && !taken.has(base) ? base : `${base}_${number}`;
    if (!taken.has(id)) return id;
  }
}

function begin(plan: PlanDoc, tool: Tool | undefined): Record<string, unknown> {
  const args = (tool ? blank(formOf(tool, {})) : {}) as Record<string, unknown>;
  const takesScene = (tool?.inputSchema.properties as Record<string, unknown> | undefined)?.scene !== undefined;
  return takesScene && plan.scene ? { ...args, scene: plan.scene } : args;
}

export function AddStep({
  plan,
  editing,
  read,
  onClose,
}: {
  plan: PlanDoc;
  editing: Editing;
  read: (version: number) => void;
  onClose: () => void;
}) {
  const tools = useTools();
  const [name, setName] = useState("");
  const tool = tools.find((one) => one.name === name);
  const [args, setArgs] = useState<Record<string, unknown>>({});
  const [description, setDescription] = useState("");
  const [after, setAfter] = useState(plan.steps.at(-1)?.id ?? "");
  const [waits, setWaits] = useState(true);
  const form = useMemo(() => formOf(tool, {}), [tool]);
  const pick = (next: string) => {
    setName(next);
    setArgs(
      begin(
        plan,
        tools.find((one) => one.name === next),
      ),
    );
  };
  const send = async () => {
    const step = {
      id: freshId(plan, name),
      tool: name,
      args,
      ...(description ? { description } : {}),
      ...(waits && after ? { dependsOn: [after] } : {}),
    };
    const where = after ? { after } : plan.steps[0] ? { before: plan.steps[0].id } : {};
    await editing.send([{ op: "add", step, ...where }]);
  };
  return (
    <Dialog title="Add a step" onClose={onClose} wide>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <div className="field">
          <label htmlFor="add-tool">Tool</label>
          <select id="add-tool" className="select" required value={name} onChange={(event) => pick(event.target.value)}>
            <option value="">Choose …</option>
            {tools.map((one) => (
              <option key={one.name}>{one.name}</option>
            ))}
          </select>
          {tool && <p className="soft small">{tool.description}</p>}
        </div>
        {tool && (
          <>
            <SchemaForm schema={form} value={args} onChange={(next) => setArgs(next as Record<string, unknown>)} />
            <div className="field">
              <label htmlFor="add-words">
                In your words<span className="soft small"> optional</span>
              </label>
              <input
                id="add-words"
                className="input"
                value={description}
                onChange={(event) => setDescription(event.target.value)}
              />
            </div>
            <div className="field">
              <label htmlFor="add-after">After</label>
              <select
                id="add-after"
                className="select"
                value={after}
                onChange={(event) => setAfter(event.target.value)}
              >
                <option value="">Nothing: at the beginning</option>
                {plan.steps.map((step) => (
                  <option key={step.id} value={step.id}>
                    {step.order}. {step.description || step.id}
                  </option>
                ))}
              </select>
            </div>
            {after && (
              <div className="field check">
                <input
                  id="add-waits"
                  type="checkbox"
                  checked={waits}
                  onChange={(event) => setWaits(event.target.checked)}
                />
                <label htmlFor="add-waits">It waits for that step</label>
              </div>
            )}
          </>
        )}
        <EditTold plan={plan} editing={editing} read={read} />
        <div className="row">
          <button type="submit" className="button first" disabled={!tool}>
            Add the step
          </button>
          <button type="button" className="button ghost" onClick={onClose}>
            Back
          </button>
        </div>
      </form>
    </Dialog>
  );
}
