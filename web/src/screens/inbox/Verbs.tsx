/** The verbs a decision allows, each with what it does, and a form where it takes a value or a note. */
import { useState } from "react";
import { asRefusal, type Refusal, write } from "@/api/client";
import { useWhyNot } from "@/live/hooks";
import { StageWord, useCommand } from "@/parts/Command";
import { blank, type JsonSchema, SchemaForm } from "@/parts/Form";
import { Refused } from "@/parts/Told";
import { freshId, InsertSteps, takesSteps } from "./InsertSteps";
import { type Decision, firstVerb, isSharp, verbWord } from "./kinds";

interface Props {
  decision: Decision;
  onAnswered: (verb: string) => void;
  /** Told even when the verbs are gone by then, as when somebody else was quicker. */
  onRefused?: (refusal: Refusal) => void;
}

export function Verbs({ decision, onAnswered, onRefused }: Props) {
  const [open, setOpen] = useState<string | null>(null);
  const command = useCommand();
  const whyNot = useWhyNot();
  const first = firstVerb(decision);
  const answer = async (verb: string, value?: unknown, note?: string) => {
    if (whyNot !== null) return;
    const said = await command.give(() =>
      write("post", "/api/v1/inbox/{decision_id}", {
        path: { decision_id: decision.id },
        body: { verb, ...(value === undefined ? {} : { value }), ...(note ? { note } : {}) },
        patienceMs: 10_000,
      }).catch((error) => {
        onRefused?.(asRefusal(error));
        throw error;
      }),
    );
    if (said !== undefined) onAnswered(verb);
  };
  const press = (verb: string) => {
    if (whyNot !== null || command.stage === "asked") return;
    if (decision.values[verb] !== undefined || isSharp(verb)) setOpen(open === verb ? null : verb);
    else void answer(verb);
  };
  return (
    <div className="stack">
      <ul className="verbs">
        {decision.verbs.map((verb) => (
          <li key={verb}>
            <button
              type="button"
              className={`button ${verb === first ? "first" : isSharp(verb) ? "danger" : ""}`}
              aria-disabled={whyNot !== null || command.stage === "asked"}
              aria-expanded={decision.values[verb] !== undefined || isSharp(verb) ? open === verb : undefined}
              title={whyNot ?? undefined}
              // The second press of a double one would close the form that the first has opened.
              onClick={(event) => event.detail <= 1 && press(verb)}
            >
              {verbWord(verb)}
            </button>
            <span className="soft small">{decision.effects[verb]}</span>
          </li>
        ))}
      </ul>
      {open !== null && (
        <Answer
          key={open}
          decision={decision}
          verb={open}
          whyNot={whyNot}
          onSend={answer}
          onBack={() => setOpen(null)}
        />
      )}
      {whyNot && <p className="soft small">{whyNot}</p>}
      {command.refusal ? <Refused refusal={command.refusal} /> : <StageWord stage={command.stage} />}
    </div>
  );
}

interface AnswerProps {
  decision: Decision;
  verb: string;
  whyNot: string | null;
  onSend: (verb: string, value?: unknown, note?: string) => Promise<void>;
  onBack: () => void;
}

function Answer({ decision, verb, whyNot, onSend, onBack }: AnswerProps) {
  const schema = decision.values[verb] as JsonSchema | undefined;
  const [value, setValue] = useState<unknown>(() => begin(decision, schema));
  const [note, setNote] = useState("");
  const id = `note-${decision.id}`;
  return (
    <form
      className="inbox-answer stack"
      onSubmit={(event) => {
        event.preventDefault();
        void onSend(verb, schema === undefined ? undefined : value, note);
      }}
    >
      {schema?.properties && schema.description && <p className="soft small">{schema.description}</p>}
      {takesSteps(schema) ? (
        <InsertSteps
          before={String(decision.about.stepId ?? "step")}
          value={value as { steps: [] }}
          onChange={setValue}
        />
      ) : (
        schema && (
          <SchemaForm
            schema={schema}
            value={value}
            onChange={setValue}
            label={schema.properties ? undefined : verbWord(verb)}
          />
        )
      )}
      {isSharp(verb) && (
        <div className="field">
          <label htmlFor={id}>
            Note <span className="soft small">optional; it stands in the history</span>
          </label>
          <input
            id={id}
            className="input"
            value={note}
            maxLength={2_000}
            onChange={(event) => setNote(event.target.value)}
          />
        </div>
      )}
      <div className="row">
        <button
          type="submit"
          className={`button ${isSharp(verb) ? "danger" : "first"}`}
          aria-disabled={whyNot !== null}
          title={whyNot ?? undefined}
        >
          {verbWord(verb)}
        </button>
        <button type="button" className="button ghost" onClick={onBack}>
          Back
        </button>
      </div>
    </form>
  );
}

/** A retry begins with the arguments that failed, so that one of them can be changed. */
function begin(decision: Decision, schema: JsonSchema | undefined): unknown {
  if (schema === undefined) return undefined;
  const before = String(decision.about.stepId ?? "step");
  if (takesSteps(schema)) return { steps: [{ id: freshId(before, []), tool: "", args: {} }] };
  if (schema.properties?.args !== undefined && decision.evidence.args !== undefined)
    return { args: decision.evidence.args };
  return blank(schema);
}
