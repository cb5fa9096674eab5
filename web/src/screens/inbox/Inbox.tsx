/** Inbox: every decision that waits for a person; one alone under its own address, also after it was answered. */
import { useMemo, useState } from "react";
import { get, type Refusal } from "@/api/client";
import { Link, usePlace, useQuery } from "@/frame/router";
import { useFetched, useList } from "@/live/hooks";
import { State } from "@/parts/StateMark";
import { useSteady } from "@/parts/steady";
import { Empty, Loading, Refused } from "@/parts/Told";
import { Time } from "@/parts/time";
import { Values } from "@/parts/Values";
import { DecisionCard, focusNextDecision } from "./DecisionCard";
import { Evidence } from "./Evidence";
import { type Decision, kindOf, verbWord } from "./kinds";

/** How many are drawn at first, and how many more each time. */
const PAGE = 40;

export default function Inbox({ named }: { named: Record<string, string> }) {
  return named.id === undefined ? <All /> : <One id={named.id} />;
}

function All() {
  const decisions = useList<Decision>("decisions");
  const [words, setWords] = useQuery("q");
  const [kind, setKind] = useQuery("kind");
  const fresh = useMemo(() => wanted([...decisions.values()], kind, words), [decisions, kind, words]);
  const steady = useSteady(fresh, (decision) => decision.id);
  const [most, setMost] = useState(PAGE);
  const kinds = [...new Set([...decisions.values()].map((decision) => decision.kind))].sort();
  return (
    <>
      <header className="page-head">
        <h1>Inbox</h1>
        <span className="soft">{decisions.size === 0 ? "" : `Waiting: ${decisions.size}`}</span>
        <span className="spread" />
        <Link to="/history?what=decisions" className="button ghost">
          Answered before
        </Link>
      </header>
      {decisions.size > 5 && (
        <div className="row inbox-filters">
          <input
            className="input"
            data-search
            aria-label="Search the decisions"
            placeholder="Search"
            value={words ?? ""}
            onChange={(event) => setWords(event.target.value)}
          />
          <select
            className="select"
            aria-label="Kind"
            value={kind ?? ""}
            onChange={(event) => setKind(event.target.value)}
          >
            <option value="">Every kind</option>
            {kinds.map((name) => (
              <option key={name} value={name}>
                {kindOf({ kind: name } as Decision).word}
              </option>
            ))}
          </select>
        </div>
      )}
      <section className="inbox-list" aria-label="Decisions" {...steady.watch}>
        {steady.waiting > 0 && (
          <button type="button" className="button inbox-more" onClick={steady.show}>
            Show new ones: {steady.waiting}
          </button>
        )}
        {steady.items.slice(0, most).map((decision) => (
          <DecisionCard key={decision.id} decision={decision} onAnswered={() => focusNextDecision(decision.id)} />
        ))}
        {steady.items.length > most && (
          <button type="button" className="button inbox-more" onClick={() => setMost(most + PAGE)}>
            Show more: {steady.items.length - most}
          </button>
        )}
        {steady.items.length === 0 && (
          <Empty title={words || kind ? "No decision fits." : "Nothing waits for you."}>
            <Link to="/new" className="button">
              Plan something new
            </Link>
          </Empty>
        )}
      </section>
    </>
  );
}

function wanted(all: Decision[], kind: string | null, words: string | null): Decision[] {
  const parts = (words ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (decision: Decision) =>
    parts.every((part) => `${decision.title} ${JSON.stringify(decision.about)}`.toLowerCase().includes(part));
  return all
    .filter((decision) => (!kind || decision.kind === kind) && fits(decision))
    .sort((one, other) => one.openedAt.localeCompare(other.openedAt));
}

function One({ id }: { id: string }) {
  const live = useList<Decision>("decisions").get(id);
  const { path } = usePlace();
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const read = useFetched(`${path}:${live === undefined}`, (signal) =>
    get("/api/v1/inbox/{decision_id}", { path: { decision_id: id }, signal }),
  );
  const decision = live ?? (read.value as Decision | undefined);
  if (decision === undefined)
    return read.refusal ? <Refused refusal={read.refusal} /> : <Loading what="the decision" />;
  return (
    <>
      <header className="page-head">
        <h1>{kindOf(decision).word}</h1>
        <span className="spread" />
        <Link to="/inbox" className="button ghost">
          All decisions
        </Link>
      </header>
      <div className="inbox-list">
        {decision.status === "open" ? (
          <DecisionCard decision={decision} whole onRefused={setRefusal} />
        ) : (
          <>
            {refusal && <Refused refusal={refusal} />}
            <Answered decision={decision} />
          </>
        )}
      </div>
    </>
  );
}

/** A decision that is over: who answered, when, with what, and what was seen. */
function Answered({ decision }: { decision: Decision }) {
  const answer = decision.answer;
  return (
    <article className="card decision">
      <h2>{decision.title}</h2>
      <p>
        <State state="ended" word={answer ? verbWord(answer.verb) : "Withdrawn"} />
        {answer && (
          <span className="soft">
            {" "}
            by {answer.by || "somebody"}
            {answer.at && (
              <>
                , <Time at={answer.at} />
              </>
            )}
          </span>
        )}
      </p>
      {answer?.note && <p>“{answer.note}”</p>}
      {answer?.value !== undefined && answer.value !== null && <Values of={{ value: answer.value }} />}
      {decision.why && <p className="soft">{decision.why}</p>}
      <h3>What was seen</h3>
      <Evidence decision={decision} whole />
    </article>
  );
}
