/** Things of the past as a table; on a narrow page each is a card. */
import type { Schemas } from "@/api/client";
import type { Past } from "@/crafts/craft";
import { Link } from "@/frame/router";
import { Id } from "@/parts/Ids";
import { State } from "@/parts/StateMark";
import { span } from "@/parts/steps/steps";
import { Time } from "@/parts/time";
import { Evidence } from "@/screens/inbox/Evidence";
import { timeOf } from "./lists";

export function PastTable({ rows, what }: { rows: readonly Past[]; what: string }) {
  return (
    <div className="card scroll-x">
      <table className="table history-table">
        <caption className="hidden-text">{what}</caption>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">State</th>
            <th scope="col">What</th>
            <th scope="col">Scene</th>
            <th scope="col">By</th>
            <th scope="col">Took</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((past) => (
            <PastRow key={past.key} past={past} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function PastRow({ past }: { past: Past }) {
  return (
    <tr>
      <td>
        <Time at={past.at} />
      </td>
      <td>
        <State state={past.state} word={past.word} />
      </td>
      <td className="history-what">
        <Link to={past.to} data-step title={past.name}>
          {past.name}
        </Link>
        {past.says && <p className="soft small">{past.says}</p>}
        {past.why && <p className="small history-why">{past.why}</p>}
        {past.note && (
          <p className="small">
            <span className="soft">Note:</span> {past.note}
          </p>
        )}
        {past.runId && past.over && (
          <Link to={`/history/replay?run=${encodeURIComponent(past.runId)}`} className="small">
            Replay
          </Link>
        )}
        <Seen row={past.row} />
      </td>
      <td>{past.scene && <Id field="sceneId" id={past.scene} />}</td>
      <td>{past.by}</td>
      <td className="nowrap">
        {past.endedAt ? span((timeOf(past.endedAt) - timeOf(past.at)) / 1_000) : past.over ? "" : "goes on"}
      </td>
    </tr>
  );
}

/** What the person saw who decided. */
function Seen({ row }: { row: object }) {
  if (!("evidence" in row)) return null;
  const decision = row as Schemas["DecisionShape"];
  const told = Object.entries(decision.evidence).filter(([, value]) => value !== decision.title);
  if (told.length === 0) return null;
  return (
    <details className="small history-seen">
      <summary>What was seen</summary>
      <Evidence decision={decision} whole />
    </details>
  );
}
