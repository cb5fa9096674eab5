/** Ask: a question and its answer, with the questions that led to it above and a field to go on below. */
import { get } from "@/api/client";
import { Link } from "@/frame/router";
import { useFetched, useList } from "@/live/hooks";
import { State } from "@/parts/StateMark";
import { useSteady } from "@/parts/steady";
import { Ago } from "@/parts/time";
import { AskField } from "./AskField";
import { useExamples } from "./examples";
import { stateOf } from "./results";
import { Thread } from "./Thread";
import "./ask.css";

export default function Ask({ named }: { named: Record<string, string> }) {
  const examples = useExamples();
  return (
    <>
      <header className="page-head">
        <h1>Ask</h1>
        {named.id && (
          <Link className="button" to="/ask">
            Ask something else
          </Link>
        )}
      </header>
      <div className="ask">
        <div className="stack">
          {named.id ? (
            <Thread key={named.id} id={named.id} />
          ) : (
            <section className="card padded stack">
              <AskField label="What do you want to know?" examples={examples} big />
            </section>
          )}
        </div>
        <Recent chosen={named.id} />
      </div>
    </>
  );
}

function Recent({ chosen }: { chosen: string | undefined }) {
  const fetched = useFetched(
    "questions",
    (signal) => get("/api/v1/questions", { query: { limit: 20 }, signal }),
    (event) => event.kind === "questionAsked" || event.kind === "questionFinished",
  );
  const decisions = useList<{ about: Record<string, unknown> }>("decisions");
  const waits = new Set([...decisions.values()].map((decision) => decision.about.questionId));
  const steady = useSteady(fetched.value ?? [], (one) => one.questionId);
  return (
    <aside className="card padded stack ask-recent" aria-labelledby="ask-recent" {...steady.watch}>
      <h2 id="ask-recent">Asked before</h2>
      {steady.waiting > 0 && (
        <button type="button" className="button small" onClick={steady.show}>
          {steady.waiting} more
        </button>
      )}
      {steady.items.length === 0 && <p className="soft">Nothing has been asked yet.</p>}
      <ul>
        {steady.items.map((one) => (
          <li key={one.questionId}>
            <Link
              to={`/ask/${encodeURIComponent(one.questionId)}`}
              className="ask-row"
              data-step
              aria-current={one.questionId === chosen ? "page" : undefined}
            >
              <span className="ask-row-text" title={one.text}>
                {one.text}
              </span>
              <span className="row small">
                <State {...stateOf(one, waits.has(one.questionId))} />
                <span className="soft">
                  <Ago at={one.askedAt} />
                  {one.follows && " · goes on"}
                </span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {steady.items.length > 0 && (
        <Link to="/history?what=questions" className="small target">
          Every question in the history
        </Link>
      )}
    </aside>
  );
}
