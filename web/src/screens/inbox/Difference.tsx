/** What a machine was to be like, what it answered and what it shows, side by side: the evidence of drift and doubt. */
import { inWords } from "@/parts/Form";
import { valueShown } from "@/parts/Values";

type Named = Record<string, unknown>;

const ROWS = { planned: "Planned", reported: "Answered", now: "Seen now" };

/** The difference as a table, or nothing where it is of another form; the sentences in it stand above already. */
export function Difference({ of }: { of: Named }) {
  const rows = Object.entries(ROWS).filter(([name]) => isNamed(of[name]));
  const names = [...new Set(rows.flatMap(([name]) => Object.keys(of[name] as Named)))];
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">Difference</th>
          {names.map((name) => (
            <th scope="col" key={name}>
              {inWords(name)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, word]) => (
          <tr key={name}>
            <th scope="row">{word}</th>
            {names.map((one) => (
              <td key={one}>{shown((of[name] as Named)[one], name === "planned")}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function isDifference(value: unknown): value is Named {
  return isNamed(value) && Object.keys(ROWS).filter((name) => isNamed(value[name])).length > 1;
}

function isNamed(value: unknown): value is Named {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shown(value: unknown, isPlanned: boolean) {
  if (value !== null && value !== undefined) {
    return valueShown(value);
  }
  return isPlanned ? "any" : "not known";
}
