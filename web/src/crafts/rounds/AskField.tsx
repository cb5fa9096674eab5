/** A question, asked with Enter; examples ask themselves when pressed. */
import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import { write } from "@/api/client";
import { go } from "@/frame/router";
import { useWhyNot } from "@/live/hooks";
import { useCommand } from "@/parts/Command";
import { Refused } from "@/parts/Told";

interface Props {
  label: string;
  examples: readonly string[];
  /** The question this one goes on from. */
  follows?: string;
  /** Why nothing can be asked here now. */
  whyNot?: string | null;
  big?: boolean;
}

export function AskField({ label, examples, follows, whyNot = null, big = false }: Props) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const command = useCommand();
  const notAllowed = useWhyNot();
  const why = notAllowed ?? whyNot;
  useEffect(() => {
    if (big) field.current?.focus({ preventScroll: true });
  }, [big]);
  const send = async (words: string) => {
    if (why !== null || words.trim() === "" || command.stage === "asked") return;
    const asked = await command.give(() =>
      write("post", "/api/v1/questions", { body: { text: words.trim(), ...(follows ? { follows } : {}) } }),
    );
    if (asked !== undefined) go(`/ask/${encodeURIComponent((asked as { questionId: string }).questionId)}`);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void send(text);
  };
  return (
    <form className="stack" onSubmit={submit}>
      <label htmlFor={id} className={big ? "ask-label" : "soft small"}>
        {label}
      </label>
      <div className="ask-field">
        <input
          id={id}
          ref={field}
          data-search
          className={big ? "input ask-big" : "input"}
          type="text"
          maxLength={20_000}
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button
          type="submit"
          className="button first"
          aria-disabled={why !== null || text.trim() === "" || command.stage === "asked"}
          title={why ?? (text.trim() === "" ? "Write a question first." : undefined)}
        >
          Ask
        </button>
      </div>
      {why && <p className="soft small">{why}</p>}
      {command.refusal && <Refused refusal={command.refusal} />}
      {examples.length > 0 && (
        <ul className="row" aria-label="Examples">
          {examples.map((example) => (
            <li key={example}>
              <button
                type="button"
                className="button small ask-example"
                aria-disabled={why !== null}
                title={why ?? undefined}
                onClick={() => void send(example)}
              >
                {example}
              </button>
            </li>
          ))}
        </ul>
      )}
    </form>
  );
}
