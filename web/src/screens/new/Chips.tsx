/** What was understood, a chip a step: each can be corrected, moved, taken away, and more added, before planning. */
import { useState } from "react";
import type { Schemas } from "@/api/client";
import type { JsonSchema } from "@/parts/Form";
import { Mark } from "@/parts/StateMark";
import { alternatives, inValues, placeIn, removed, type Step, turnedInto } from "./intent";
import type { Reading } from "./reading";
import { StepEditor } from "./StepEditor";

interface Props {
  steps: readonly Step[];
  /** The newest reading; its sentences are shown for the steps they were said of. */
  told: Reading | undefined;
  problems: readonly Partial<Schemas["ProblemShape"]>[];
  isCorrected: boolean;
  onChange: (steps: readonly Step[]) => void;
  onReset: () => void;
}

export function Chips({ steps, told, problems, isCorrected, onChange, onReset }: Props) {
  const [open, setOpen] = useState<number | null>(null);
  const schema = (told?.stepSchema ?? {}) as JsonSchema;
  const edited = open === null ? undefined : steps[open];
  const add = () => {
    const first = alternatives(schema)[0];
    if (first === undefined) return;
    onChange([...steps, turnedInto(first, {})]);
    setOpen(steps.length);
  };
  return (
    <div className="stack new-chips">
      <p className="row">
        <strong>Understood</strong>
        <span className="soft small">
          {told?.model ? `by ${told.model}; correct it before it is planned` : "Press a step to correct it."}
        </span>
        {isCorrected && (
          <button type="button" className="button small ghost" onClick={onReset}>
            As I said it
          </button>
        )}
      </p>
      <ol className="row">
        {steps.map((step, index) => {
          const wrong = problems.some((problem) => placeIn(problem.path) === index);
          return (
            <li key={index}>
              <button
                type="button"
                className="new-chip"
                data-step
                data-wrong={wrong}
                aria-expanded={open === index}
                title={told?.steps[index]?.text ? `From: ${told.steps[index]?.text}` : undefined}
                onClick={() => setOpen(open === index ? null : index)}
              >
                <span className="new-chip-number">{index + 1}</span>
                {wrong && <Mark state="failed" size={13} />}
                {sentence(step, index, told)}
                {wrong && <span className="hidden-text">, cannot be</span>}
              </button>
            </li>
          );
        })}
        <li>
          <button type="button" className="button small" onClick={add}>
            Add a step
          </button>
        </li>
      </ol>
      {open !== null && edited !== undefined && (
        <StepEditor
          key={open}
          number={open + 1}
          count={steps.length}
          schema={schema}
          step={edited}
          onChange={(step) => onChange(steps.map((old, index) => (index === open ? step : old)))}
          onMove={(next, to) => {
            onChange(next);
            setOpen(to);
          }}
          onRemove={() => {
            onChange(removed(steps, open));
            setOpen(null);
          }}
          onClose={() => setOpen(null)}
          all={steps}
        />
      )}
      {told && told.notes.length > 0 && (
        <ul className="problems soft">
          {told.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The server's words where it read this very step, else its values. */
function sentence(step: Step, index: number, told: Reading | undefined): string {
  const read = (told?.intent.steps as Step[] | undefined)?.[index];
  const same = JSON.stringify(read) === JSON.stringify(step) || sameValues(read, step);
  return (same && told?.steps[index]?.says) || inValues(step);
}

function sameValues(one: Step | undefined, other: Step): boolean {
  if (one === undefined) return false;
  const names = new Set([...Object.keys(one), ...Object.keys(other)].filter((name) => name !== "after"));
  return [...names].every((name) => one[name] === other[name]);
}
