/** A result as a table: sorted by any column, ids as links, times in the reader's zone; copied or saved as CSV. */
import { useState } from "react";
import { Id, wayTo } from "@/parts/Ids";
import { Time } from "@/parts/time";
import type { Cell } from "./results";
import { csvOf, fieldOf, isTime, type Sorting, sorted, tabbed } from "./table";

interface Props {
  columns: readonly string[];
  rows: readonly Cell[][];
  name: string;
}

export function ResultTable({ columns, rows, name }: Props) {
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const [copied, setCopied] = useState("");
  const shown = sorted(rows, sorting);
  const turn = (column: number) =>
    setSorting(sorting?.column !== column ? { column, down: false } : sorting.down ? null : { column, down: true });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(tabbed(columns, shown));
      setCopied("Copied");
    } catch {
      setCopied("The browser does not let this page copy; save it as CSV.");
    }
  };
  return (
    <div className="stack">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard */}
      <section className="scroll-x ask-table" aria-label="The result as a table" tabIndex={0}>
        <table className="table">
          <thead>
            <tr>
              {columns.map((column, index) => (
                <th
                  key={index}
                  scope="col"
                  aria-sort={ariaSort(sorting, index)}
                  className={typeof rows[0]?.[index] === "number" ? "ask-number" : undefined}
                >
                  <button type="button" className="ask-sort" onClick={() => turn(index)}>
                    {column}
                    <span aria-hidden="true">{sorting?.column === index ? (sorting.down ? " ↓" : " ↑") : ""}</span>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, index) => (
              <tr key={index}>
                {columns.map((column, at) => (
                  <td key={at} className={typeof row[at] === "number" ? "ask-number" : undefined}>
                    <Value column={column} value={row[at]} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <div className="row">
        <button type="button" className="button small" onClick={() => void copy()}>
          Copy
        </button>
        <button type="button" className="button small" onClick={() => save(`${name}.csv`, csvOf(columns, shown))}>
          CSV
        </button>
        <span className="soft small" role="status">
          {copied}
        </span>
      </div>
    </div>
  );
}

function ariaSort(sorting: Sorting | null, column: number): "ascending" | "descending" | "none" {
  if (sorting?.column !== column) return "none";
  return sorting.down ? "descending" : "ascending";
}

function Value({ column, value }: { column: string; value: Cell | undefined }) {
  if (value === null || value === undefined) return <span className="soft">–</span>;
  if (isTime(value)) return <Time at={value} />;
  const field = sameAs(fieldOf(column));
  if (typeof value === "string" && value !== "" && wayTo(field, value) !== null) return <Id field={field} id={value} />;
  return <>{typeof value === "number" ? value.toLocaleString() : String(value)}</>;
}

/** Where a pallet comes from and goes to are worksites. */
function sameAs(field: string): string {
  return field === "sourceId" || field === "targetId" ? "worksiteId" : field;
}

function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
