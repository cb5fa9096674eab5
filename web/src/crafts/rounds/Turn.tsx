/** One question and what became of it: its answer with table and chart, the query behind it, the rounds it took. */
import { get, write } from "@/api/client";
import { Link } from "@/frame/router";
import { useFetched } from "@/live/hooks";
import { Chart } from "@/parts/Chart";
import { CommandButton } from "@/parts/Command";
import { Mark, State } from "@/parts/StateMark";
import { Ago } from "@/parts/time";
import { Clarify } from "./Clarify";
import { ResultTable } from "./ResultTable";
import { RoundsLens } from "./RoundsLens";
import { isOpen, type Question, resultsOf, type Shown, stateOf, summaryOf, wordsOf } from "./results";

export function Turn({ question, isLast }: { question: Question; isLast: boolean }) {
  const open = isOpen(question);
  const id = question.questionId;
  const results = resultsOf(question);
  return (
    <article className="card padded stack ask-turn" data-question={id} data-status={question.status}>
      <header className="stack">
        <h2>{isLast ? question.text : <Link to={`/ask/${encodeURIComponent(id)}`}>{question.text}</Link>}</h2>
        <div className="row small">
          <span role="status">
            <State {...stateOf(question)} />
          </span>
          <span className="soft">
            {question.by && `${question.by} · `}
            <Ago at={question.askedAt} />
            {open && ` · round ${Math.max(question.round, 1)} of at most ${question.max_rounds}`}
            {question.model && ` · ${question.model}`}
          </span>
          <span className="spread" />
          {open ? (
            <CommandButton
              label="Cancel"
              small
              describe="Ends it now; what was finished is kept."
              call={() => write("post", "/api/v1/questions/{question_id}/cancel", { path: { question_id: id } })}
            />
          ) : (
            <a
              className="button small ghost"
              href={`/api/v1/questions/${encodeURIComponent(id)}/replay`}
              download={`${id}.json`}
            >
              Replay file
            </a>
          )}
        </div>
      </header>
      <Clarify question={question} />
      {question.status === "failed" && (
        <div className="told bad">
          <Mark state="failed" />
          <div className="stack">
            <p>{question.reason}</p>
            {question.partial_response && (
              <details>
                <summary>What was finished</summary>
                <pre className="ask-pre">{question.partial_response}</pre>
              </details>
            )}
          </div>
        </div>
      )}
      {wordsOf(question) && <p className="ask-answer">{wordsOf(question)}</p>}
      {results.map((one, index) => (
        <Result key={index} shown={one} name={`${id}${index > 0 ? `-${index + 1}` : ""}`} />
      ))}
      <Query question={question} />
      <Rounds question={question} isShown={open} />
    </article>
  );
}

function Result({ shown, name }: { shown: Shown; name: string }) {
  return (
    <div className="ask-result" data-chart={shown.chart !== undefined}>
      {shown.chart && (
        <div className="stack">
          <Chart {...shown.chart} />
          {/^\d{4}-\d\d/.test(shown.chart.labels[0] ?? "") && <p className="soft small">Times are in UTC.</p>}
        </div>
      )}
      {shown.rows.length > 0 && <ResultTable columns={shown.columns} rows={shown.rows} name={name} />}
    </div>
  );
}

function Query({ question }: { question: Question }) {
  const query = resultsOf(question).find((one) => one.query !== undefined)?.query;
  if (query === undefined) return null;
  return (
    <details className="ask-fold">
      <summary>The query that made it</summary>
      <div className="stack">
        <p>{summaryOf(question)}</p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard */}
        <section className="ask-pre" aria-label="The query" tabIndex={0}>
          <pre>{JSON.stringify(query, null, 2)}</pre>
        </section>
      </div>
    </details>
  );
}

function Rounds({ question, isShown }: { question: Question; isShown: boolean }) {
  const count = question.sub_goals.length;
  const id = question.questionId;
  // The planner's words of every round stand in the replay file, which is there once the question is over.
  const replay = useFetched(isOpen(question) ? null : `replay ${id}`, (signal) =>
    get("/api/v1/questions/{question_id}/replay", { path: { question_id: id }, signal }),
  );
  const decisions = (replay.value?.decisions ?? []) as { reasoning?: string }[];
  const reasons = isOpen(question)
    ? { [question.round]: question.planner_reasoning }
    : Object.fromEntries(decisions.map((decision, index) => [index + 1, decision.reasoning ?? ""]));
  return (
    <details className="ask-fold" open={isShown || undefined}>
      <summary>
        {question.round} {question.round === 1 ? "round" : "rounds"}, {count} {count === 1 ? "sub-goal" : "sub-goals"}
      </summary>
      <div className="stack">
        <RoundsLens subGoals={question.sub_goals} round={question.round} reasons={reasons} />
        {question.warnings.length > 0 && (
          <ul className="problems soft">
            {question.warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        )}
      </div>
    </details>
  );
}
