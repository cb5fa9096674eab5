/** A scene's lists as they were, for crafts that draw no past. */
import type { Row } from "@/live/store";
import { inWords } from "@/parts/Form";
import { State } from "@/parts/StateMark";

const SHOWN = 40;

export function ThenList({ lists }: { lists: Readonly<Record<string, readonly Row[]>> }) {
  const shown = Object.entries(lists);
  if (shown.length === 0) return <p className="soft">Nothing of it is in the log then.</p>;
  return (
    <>
      {shown.map(([name, rows]) => (
        <details key={name} className="card replay-list" open={rows.length <= SHOWN}>
          <summary>
            {inWords(name)}: {rows.length}
          </summary>
          <ul>
            {rows.slice(0, 200).map((row, index) => (
              <li key={index} className="row small">
                {stateOf(row) && <State state={stateOf(row)} />}
                <span className="mono">{nameOf(row)}</span>
                {typeof row.says === "string" && <span className="soft">{row.says}</span>}
              </li>
            ))}
          </ul>
        </details>
      ))}
    </>
  );
}

function stateOf(row: Row): string {
  return String(row.phase ?? row.status ?? row.occupancy ?? "");
}

/** Its own id: the first field whose name ends so. */
function nameOf(row: Row): string {
  const id = Object.entries(row).find(([field, value]) => field.endsWith("Id") && typeof value === "string");
  return String(id?.[1] ?? row.name ?? row.scene ?? "");
}
