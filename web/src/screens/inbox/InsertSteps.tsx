/** Steps to put in before a step that failed: a tool each, with the form of its arguments. */
import { useId } from "react";
import { blank, type JsonSchema, SchemaForm } from "@/parts/Form";
import { formOf, type Tool, useTools } from "@/parts/steps/tools";

interface NewStep {
  id: string;
  tool: string;
  args: Record<string, unknown>;
}

/** Whether a verb takes steps, which get their tools' forms instead of one made from its own schema. */
export function takesSteps(schema: JsonSchema | undefined): boolean {
  return schema?.properties?.steps?.items?.properties?.tool !== undefined;
}

interface Props {
  /** The step they are put in for; their ids are made from it. */
  before: string;
  value: { steps: NewStep[] };
  onChange: (value: { steps: NewStep[] }) => void;
}

export function InsertSteps({ before, value, onChange }: Props) {
  const tools = useTools();
  const steps = value.steps;
  const change = (at: number, next: NewStep) =>
    onChange({ steps: steps.map((old, index) => (index === at ? next : old)) });
  const add = () => onChange({ steps: [...steps, { id: freshId(before, steps), tool: "", args: {} }] });
  return (
    <div className="stack">
      {steps.map((step, at) => (
        <OneStep
          key={step.id}
          step={step}
          number={at + 1}
          tools={tools}
          onChange={(next) => change(at, next)}
          onRemove={steps.length > 1 ? () => onChange({ steps: steps.filter((_, index) => index !== at) }) : undefined}
        />
      ))}
      <div>
        <button type="button" className="button small" onClick={add}>
          One more step
        </button>
      </div>
    </div>
  );
}

export function freshId(before: string, steps: readonly { id: string }[]): string {
  const taken = new Set(steps.map((step) => step.id));
  let number = steps.length + 1;
  while (taken.has(`${before}_before_${number}`)) number += 1;
  return `${before}_before_${number}`;
}

interface OneProps {
  step: NewStep;
  number: number;
  tools: readonly Tool[];
  onChange: (step: NewStep) => void;
  onRemove: (() => void) | undefined;
}

function OneStep({ step, number, tools, onChange, onRemove }: OneProps) {
  const id = useId();
  const tool = tools.find((one) => one.name === step.tool);
  const pick = (name: string) => {
    const found = tools.find((one) => one.name === name);
    onChange({ ...step, tool: name, args: (found ? blank(formOf(found, {})) : {}) as NewStep["args"] });
  };
  return (
    <fieldset className="fields">
      <legend>Step {number}</legend>
      <div className="field">
        <label htmlFor={id}>Tool</label>
        <select id={id} className="select" required value={step.tool} onChange={(event) => pick(event.target.value)}>
          <option value="">Choose …</option>
          {tools.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        {tool && <p className="soft small">{tool.description}</p>}
      </div>
      {tool && (
        <SchemaForm
          schema={formOf(tool, {})}
          value={step.args}
          onChange={(args) => onChange({ ...step, args: args as NewStep["args"] })}
        />
      )}
      {onRemove && (
        <div>
          <button type="button" className="button small ghost" onClick={onRemove}>
            Leave step {number} out
          </button>
        </div>
      )}
    </fieldset>
  );
}
