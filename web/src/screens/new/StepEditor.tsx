/** One step of an intent, corrected: what it is, and the names in it, chosen from the scene. */
import { useEffect, useId, useRef } from "react";
import { type JsonSchema, SchemaForm } from "@/parts/Form";
import { alternativeOf, alternatives, choices, moved, type Step, turnedInto, withoutGaps } from "./intent";

interface Props {
  number: number;
  count: number;
  schema: JsonSchema;
  step: Step;
  all: readonly Step[];
  onChange: (step: Step) => void;
  onMove: (steps: readonly Step[], to: number) => void;
  onRemove: () => void;
  onClose: () => void;
}

export function StepEditor({ number, count, schema, step, all, onChange, onMove, onRemove, onClose }: Props) {
  const id = useId();
  const ref = useRef<HTMLFieldSetElement>(null);
  const kinds = alternatives(schema);
  const kind = alternativeOf(schema, step) ?? kinds[0];
  useEffect(() => ref.current?.querySelector<HTMLElement>("select, input, textarea")?.focus(), []);
  const at = number - 1;
  return (
    <fieldset
      ref={ref}
      className="new-editor"
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
      }}
    >
      <legend>Step {number}</legend>
      <div className="new-editor-fields">
        {kinds.length > 1 && (
          <div className="field">
            <label htmlFor={id}>What</label>
            <select
              id={id}
              className="select"
              value={String(kinds.indexOf(kind ?? {}))}
              onChange={(event) => {
                const next = kinds[Number(event.target.value)];
                if (next) onChange(turnedInto(next, step));
              }}
            >
              {kinds.map((one, index) => (
                <option key={one.title} value={index}>
                  {one.title}
                </option>
              ))}
            </select>
          </div>
        )}
        {kind && (
          <SchemaForm schema={choices(kind)} value={step} onChange={(value) => onChange(withoutGaps(value as Step))} />
        )}
      </div>
      <div className="row">
        <button
          type="button"
          className="button small"
          disabled={at === 0}
          onClick={() => onMove(moved(all, at, -1), at - 1)}
        >
          Earlier
        </button>
        <button
          type="button"
          className="button small"
          disabled={number === count}
          onClick={() => onMove(moved(all, at, 1), at + 1)}
        >
          Later
        </button>
        <button type="button" className="button small danger" disabled={count === 1} onClick={onRemove}>
          Take it away
        </button>
        <span className="spread" />
        <button type="button" className="button small first" onClick={onClose}>
          Done
        </button>
      </div>
    </fieldset>
  );
}
