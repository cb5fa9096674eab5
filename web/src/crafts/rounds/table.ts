/** A table of values: sorted as a person expects it, and written out for other programs. */
import type { Cell } from "./results";

export interface Sorting {
  column: number;
  down: boolean;
}

const ORDER = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/** Numbers by size, texts as one reads them (RB-2 before RB-10), empty cells last either way. */
export function sorted(rows: readonly Cell[][], sorting: Sorting | null): readonly Cell[][] {
  if (sorting === null) return rows;
  const { column, down } = sorting;
  return [...rows].sort((one, other) => {
    const [a, b] = [one[column] ?? null, other[column] ?? null];
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    const by = typeof a === "number" && typeof b === "number" ? a - b : ORDER.compare(String(a), String(b));
    return down ? -by : by;
  });
}

function quoted(value: Cell | undefined): string {
  const text = value === null || value === undefined ? "" : String(value);
  // A text that begins like a formula would be run by a spreadsheet.
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvOf(columns: readonly string[], rows: readonly Cell[][]): string {
  return `${[columns, ...rows].map((row) => row.map(quoted).join(",")).join("\r\n")}\r\n`;
}

/** Columns between tabs, as spreadsheets take them from the clipboard. */
export function tabbed(columns: readonly string[], rows: readonly Cell[][]): string {
  const plain = (value: Cell | undefined) => String(value ?? "").replaceAll(/[\t\n\r]+/g, " ");
  return [columns, ...rows].map((row) => row.map(plain).join("\t")).join("\n");
}

/** The field that a column's name in words stands for: `robot id` is robotId. */
export function fieldOf(column: string): string {
  return column.replace(/ ([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

export function isTime(value: Cell | undefined): value is string {
  return typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(value);
}
