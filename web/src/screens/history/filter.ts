/** What of the past is looked at: the filters as they stand in the URL, and which things pass them. */
import type { Past } from "@/crafts/craft";
import { timeOf } from "./lists";

export interface Filter {
  scene: string;
  status: string;
  text: string;
  /** Milliseconds; null where there is no such bound. */
  from: number | null;
  to: number | null;
}

const HOUR = 3_600_000;
/** Spans that end now. */
export const SPANS: Readonly<Record<string, { says: string; ms: number }>> = {
  "1h": { says: "The last hour", ms: HOUR },
  "8h": { says: "The last 8 hours", ms: 8 * HOUR },
  "24h": { says: "The last 24 hours", ms: 24 * HOUR },
  "7d": { says: "The last 7 days", ms: 168 * HOUR },
};

function instant(text: string | null): number | null {
  const time = text ? new Date(text).getTime() : Number.NaN;
  return Number.isNaN(time) ? null : time;
}

export function filterOf(query: URLSearchParams, now: number): Filter {
  const span = SPANS[query.get("span") ?? ""];
  return {
    scene: query.get("scene") ?? "",
    status: query.get("status") ?? "",
    text: (query.get("text") ?? "").trim(),
    from: span ? now - span.ms : instant(query.get("from")),
    to: span ? null : instant(query.get("to")),
  };
}

export function isFiltered(filter: Filter): boolean {
  return Boolean(filter.scene || filter.status || filter.text || filter.from !== null || filter.to !== null);
}

/** Whether any of it lies in the span. */
export function within(past: Past, filter: Pick<Filter, "from" | "to">): boolean {
  const start = timeOf(past.at);
  const end = past.endedAt ? timeOf(past.endedAt) : past.over ? start : Number.POSITIVE_INFINITY;
  return (filter.to === null || start <= filter.to) && (filter.from === null || end >= filter.from);
}

export function matches(words: string, ...texts: (string | null | undefined)[]): boolean {
  const all = texts.join(" ").toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

export function passes(past: Past, filter: Filter): boolean {
  return (
    (!filter.scene || past.scene === filter.scene) &&
    (!filter.status || past.state === filter.status) &&
    matches(filter.text, past.key, past.name, past.says, past.by, past.why, past.note, past.scene, past.word) &&
    within(past, filter)
  );
}
