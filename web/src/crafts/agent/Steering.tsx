/** The four commands for a person: start, stop, skip and end, by buttons or written out; and taking it over. */
import { type FormEvent, useId, useState } from "react";
import { get, type Schemas, write } from "@/api/client";
import { useFetched, useWhyNot } from "@/live/hooks";
import { StageWord, useCommand } from "@/parts/Command";
import { Refused } from "@/parts/Told";
import { concerns, isAnothers, type Session, suggestions, thingsOf } from "./session";

export function Steering({ session }: { session: Session }) {
  const command = useCommand<Schemas["CommandShape"]>();
  const handed = useCommand<Schemas["HandedOverShape"]>();
  const notAllowed = useWhyNot();
  const whyNot = session.status === "open" ? notAllowed : "The session is over.";
  const id = session.sessionId;
  const around = useFetched(
    `around/${id}/${session.status}`,
    (signal) => get("/api/v1/sessions/{session_id}/surroundings", { path: { session_id: id }, signal }),
    concerns(id),
  );
  const say = (text: string) => {
    if (whyNot !== null || command.stage === "asked") return;
    void command.give(() =>
      write("post", "/api/v1/sessions/{session_id}/commands", { path: { session_id: id }, body: { command: text } }),
    );
  };
  const end = () => {
    if (whyNot !== null) return;
    void handed.give(() => write("post", "/api/v1/sessions/{session_id}/end", { path: { session_id: id }, body: {} }));
  };
  const takeOver = () => {
    if (whyNot !== null) return;
    const body = { turn: session.turn ?? 0 };
    void handed.give(() =>
      write("post", "/api/v1/sessions/{session_id}/take-over", { path: { session_id: id }, body }),
    );
  };
  const reply = command.answer;
  return (
    <section className="card padded stack" aria-label="Steer it by hand">
      <h2>Steer it</h2>
      {whyNot && <p className="soft">{whyNot}</p>}
      <StartForm
        off={whyNot !== null}
        known={suggestions(thingsOf(around.value?.surroundings ?? ""))}
        onStart={(action) => say(`start("${action}")`)}
      />
      <div className="row">
        {session.actions.map(({ action }) => (
          <button
            key={action}
            type="button"
            className="button"
            aria-disabled={whyNot !== null}
            onClick={() => say(`stop("${action}")`)}
          >
            Stop {action}
          </button>
        ))}
      </div>
      <div className="row">
        {[1, 5, 20].map((seconds) => (
          <button
            key={seconds}
            type="button"
            className="button"
            aria-disabled={whyNot !== null}
            onClick={() => say(`skip(${seconds})`)}
          >
            Wait {seconds} s
          </button>
        ))}
        <span className="spread" />
        {isAnothers(session) && (
          <button type="button" className="button" aria-disabled={whyNot !== null} onClick={takeOver}>
            Take over
          </button>
        )}
        <button type="button" className="button danger" aria-disabled={whyNot !== null} onClick={end}>
          End the session
        </button>
      </div>
      <WrittenOut off={whyNot !== null} onSay={say} />
      {reply && command.refusal === null && (
        <div className={reply.refused ? "told bad" : "told"} role="status">
          <div className="stack">
            <p>
              <code>{reply.command}</code>
            </p>
            <p>{reply.reply}</p>
            {reply.refused && reply.reasons.map((reason) => <p key={reason.says}>{reason.says}</p>)}
          </div>
        </div>
      )}
      {handed.refusal && <Refused refusal={handed.refusal} />}
      {handed.answer && handed.answer.cancelled.length > 0 && (
        <p className="told" role="status">
          Stopped: {handed.answer.cancelled.join(", ")}.
        </p>
      )}
      {command.refusal ? (
        <Refused refusal={command.refusal} />
      ) : (
        command.stage === "asked" && <StageWord stage="asked" />
      )}
    </section>
  );
}

function StartForm({
  off,
  known,
  onStart,
}: {
  off: boolean;
  known: readonly string[];
  onStart: (action: string) => void;
}) {
  const [action, setAction] = useState("");
  const id = useId();
  const start = (event: FormEvent) => {
    event.preventDefault();
    if (action.trim()) onStart(action.trim());
  };
  return (
    <form className="row" onSubmit={start}>
      <label htmlFor={id} className="hidden-text">
        The action to start
      </label>
      <input
        id={id}
        className="input spread"
        list={`${id}-list`}
        placeholder="sitting on bed1"
        value={action}
        onChange={(event) => setAction(event.target.value)}
      />
      <datalist id={`${id}-list`}>
        {known.map((text) => (
          <option key={text} value={text} />
        ))}
      </datalist>
      <button type="submit" className="button first" aria-disabled={off}>
        Start
      </button>
    </form>
  );
}

function WrittenOut({ off, onSay }: { off: boolean; onSay: (text: string) => void }) {
  const [text, setText] = useState("");
  const id = useId();
  return (
    <details>
      <summary className="soft small">Write a command out</summary>
      <form
        className="row agent-written"
        onSubmit={(event) => {
          event.preventDefault();
          onSay(text);
        }}
      >
        <label htmlFor={id} className="hidden-text">
          Command
        </label>
        <input
          id={id}
          className="input spread mono"
          placeholder='start("taking cup1")'
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit" className="button" aria-disabled={off}>
          Say it
        </button>
      </form>
    </details>
  );
}
