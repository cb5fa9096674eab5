/** What is filtered as a file: CSV for a table, JSON as the server gave it. Made here, from the API's answers. */
import type { Past } from "@/crafts/craft";
import type { LogEvent } from "@/live/protocol";

type Value = string | number | null | undefined;

/** A value that a table program would take for a formula is quoted by an apostrophe. */
function written(value: Value): string {
  const text = value === null || value === undefined ? "" : String(value);
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csv(head: readonly string[], rows: readonly (readonly Value[])[]): string {
  return [head, ...rows]
    .map((row) => row.map(written).join(","))
    .join("\r\n")
    .concat("\r\n");
}

const iso = (at: string | number | null | undefined): string => (at ? new Date(at).toISOString() : "");

export function csvOfPast(rows: readonly Past[]): string {
  const head = ["id", "name", "says", "state", "begun", "ended", "scene", "by", "why", "note"];
  const lines = rows.map((one) => [
    one.key,
    one.name,
    one.says,
    one.word ?? one.state,
    iso(one.at),
    iso(one.endedAt),
    one.scene,
    one.by,
    one.why,
    one.note,
  ]);
  return csv(head, lines);
}

export function csvOfEvents(events: readonly LogEvent[]): string {
  const lines = events.map((event) => [
    event.seq,
    event.ts,
    event.kind,
    event.scene,
    event.says,
    JSON.stringify(event.about),
  ]);
  return csv(["seq", "time", "kind", "scene", "says", "about"], lines);
}

export function download(name: string, type: "csv" | "json", content: string): void {
  const kind = type === "csv" ? "text/csv" : "application/json";
  const url = URL.createObjectURL(new Blob([content], { type: `${kind};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${name}-${new Date().toISOString().slice(0, 16).replaceAll(":", "")}.${type}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
