/** The page itself. Everything on it is as the server said it; nothing is left out without saying so. */
import type { Schemas } from "@/api/client";
import type { Past } from "@/crafts/craft";
import { Link } from "@/frame/router";
import { State } from "@/parts/StateMark";
import { span } from "@/parts/steps/steps";
import { Empty } from "@/parts/Told";
import { duration, Time } from "@/parts/time";
import { newestFirst, timeOf } from "./lists";
import type { ShiftData } from "./Shift";

interface Props {
  span: { from: number; to: number };
  data: ShiftData;
  waiting: readonly Schemas["DecisionShape"][];
  hold: Schemas["HoldShape"] | null;
}

const BAD = new Set(["failed", "partial", "denied", "cancelled", "canceled", "in_doubt", "stale", "missed"]);
const SHOWN = 40;
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function ShiftPage({ span, data, waiting, hold }: Props) {
  const things = data.lists.filter((list) => list.what !== "decisions");
  const decisions = (data.lists.find((list) => list.what === "decisions")?.rows ?? []).filter((one) => one.over);
  const failed = things.flatMap((list) => list.rows.filter((one) => one.over && BAD.has(one.state))).sort(newestFirst);
  const going = things.flatMap((list) => list.rows.filter((one) => !one.over)).sort(newestFirst);
  const empty = things.every((list) => list.rows.length === 0) && decisions.length === 0 && data.holds.length === 0;
  const cut = data.lists.filter((list) => list.cut).map((list) => list.title);
  return (
    <article className="shift stack">
      <p className="shift-span">
        <strong>Shift handover</strong> {DAY.format(span.from)} to {DAY.format(span.to)}{" "}
        <span className="soft">({duration((span.to - span.from) / 1_000)})</span>
      </p>
      {cut.length > 0 && <p className="told wait">Only the newest 10,000 were read of: {cut.join(", ")}.</p>}
      {empty && (
        <Empty title="Nothing was done in this shift.">
          <p>Nothing was under way, and nobody decided anything.</p>
        </Empty>
      )}
      <Waiting waiting={waiting} going={going} hold={hold} />
      {!empty && (
        <>
          <Section title="What failed, and why" none="Nothing failed." rows={failed} why />
          <section className="stack">
            <h2>What was done</h2>
            <Counts things={things} />
            {things.map((list) => (
              <Done
                key={list.what}
                title={list.title}
                rows={list.rows.filter((one) => one.over && !BAD.has(one.state))}
              />
            ))}
          </section>
          <Decisions rows={decisions} />
          <Holds events={data.holds} />
        </>
      )}
    </article>
  );
}

function Waiting({ waiting, going, hold }: { waiting: Props["waiting"]; going: readonly Past[]; hold: Props["hold"] }) {
  return (
    <section className="stack">
      <h2>What waits now</h2>
      {hold && (
        <p className="row">
          <State state="held" word="Everything is held" /> by {hold.by}, since <Time at={hold.since} />
        </p>
      )}
      {waiting.length === 0 && !hold && <p className="soft">Nothing waits for a person.</p>}
      <ul className="shift-list">
        {waiting.map((decision) => (
          <li key={decision.id}>
            <State state="waiting" /> <Link to={`/inbox/${encodeURIComponent(decision.id)}`}>{decision.title}</Link>{" "}
            <span className="soft">
              since <Time at={decision.openedAt} />. {decision.ifUnanswered}
            </span>
          </li>
        ))}
      </ul>
      {going.length > 0 && <h3>Still under way: {going.length}</h3>}
      <Lines rows={going} />
    </section>
  );
}

function Counts({ things }: { things: ShiftData["lists"] }) {
  const shown = things.filter((list) => list.rows.length > 0);
  if (shown.length === 0) return null;
  return (
    <table className="table shift-counts">
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">In the shift</th>
          <th scope="col">Done</th>
          <th scope="col">Failed or stopped</th>
          <th scope="col">Under way</th>
        </tr>
      </thead>
      <tbody>
        {shown.map(({ what, title, rows }) => (
          <tr key={what}>
            <th scope="row">{title}</th>
            <td>{rows.length}</td>
            <td>{rows.filter((one) => one.over && !BAD.has(one.state)).length}</td>
            <td>{rows.filter((one) => one.over && BAD.has(one.state)).length}</td>
            <td>{rows.filter((one) => !one.over).length}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Done({ title, rows }: { title: string; rows: readonly Past[] }) {
  if (rows.length === 0) return null;
  return (
    <>
      <h3>
        {title}: {rows.length}
      </h3>
      <Lines rows={rows} />
    </>
  );
}

interface SectionProps {
  title: string;
  none: string;
  rows: readonly Past[];
  why?: boolean;
}

function Section({ title, none, rows, why }: SectionProps) {
  return (
    <section className="stack">
      <h2>{title}</h2>
      {rows.length === 0 ? <p className="soft">{none}</p> : <Lines rows={rows} why={why} all />}
    </section>
  );
}

function Lines({ rows, why, all }: { rows: readonly Past[]; why?: boolean; all?: boolean }) {
  const shown = all ? rows : rows.slice(0, SHOWN);
  return (
    <>
      <ul className="shift-list">
        {shown.map((past) => (
          <li key={past.key}>
            <State state={past.state} word={past.word} /> <Link to={past.to}>{past.name}</Link>{" "}
            <span className="soft">
              {past.says && past.says !== past.name && `${past.says} `}
              <Time at={past.at} />
              {past.endedAt && (
                <span className="nowrap">, {span((timeOf(past.endedAt) - timeOf(past.at)) / 1_000)}</span>
              )}
            </span>
            {why && past.why && <p className="history-why">{past.why}</p>}
          </li>
        ))}
      </ul>
      {rows.length > shown.length && (
        <p className="soft small">And {rows.length - shown.length} more; History lists them.</p>
      )}
    </>
  );
}

function Decisions({ rows }: { rows: readonly Past[] }) {
  return (
    <section className="stack">
      <h2>Decisions</h2>
      {rows.length === 0 && <p className="soft">Nobody decided anything.</p>}
      <ul className="shift-list">
        {rows.map((past) => (
          <li key={past.key}>
            <State state={past.state} word={past.word} /> <Link to={past.to}>{past.name}</Link>{" "}
            <span className="soft">
              {past.by && `by ${past.by}, `}
              <Time at={past.endedAt ?? past.at} />
            </span>
            {past.note && <p>Note: {past.note}</p>}
            {past.why && <p className="soft">{past.why}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Holds({ events }: { events: ShiftData["holds"] }) {
  if (events.length === 0) return null;
  return (
    <section className="stack">
      <h2>Holds</h2>
      <ul className="shift-list">
        {events.map((event) => (
          <li key={event.seq}>
            <Link to={`/history/replay?at=${event.seq}`}>
              <Time at={event.ts} />
            </Link>{" "}
            {event.says}
          </li>
        ))}
      </ul>
    </section>
  );
}
