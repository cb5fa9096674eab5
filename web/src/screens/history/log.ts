/** Reading the log backwards: pages of events that pass a filter, and the number of the event at a time. */
import { get } from "@/api/client";
import type { LogEvent } from "@/live/protocol";
import { type Filter, matches } from "./filter";

const CHUNK = 1_000;
/** So many events are looked through for one page; further back only when asked. */
const LOOKED_AT_MOST = 20_000;

export interface Page {
  /** The newest first. */
  events: LogEvent[];
  /** Where to go on further back; null at the start of the log. */
  next: number | null;
  looked: number;
}

export interface Wanted extends Filter {
  before: number | null;
  run?: string;
}

type Read = (query: Record<string, unknown>, signal?: AbortSignal) => Promise<LogEvent[]>;

export const readLog: Read = async (query, signal) =>
  (await get("/api/v1/events", { query: query as never, signal })) as unknown as LogEvent[];

function wants(event: LogEvent, wanted: Wanted): boolean {
  const time = new Date(event.ts).getTime();
  if (wanted.to !== null && time > wanted.to) return false;
  if (!wanted.text) return true;
  return matches(wanted.text, event.says, event.kind, event.scene, ...Object.values(event.about).map(String));
}

export async function readPage(
  wanted: Wanted,
  size: number,
  signal?: AbortSignal,
  read: Read = readLog,
): Promise<Page> {
  const events: LogEvent[] = [];
  let before = wanted.before;
  let looked = 0;
  const plain = !wanted.text && wanted.to === null;
  const limit = plain ? Math.min(size, CHUNK) : CHUNK;
  const only = { kinds: wanted.status || undefined, scene: wanted.scene || undefined, run: wanted.run || undefined };
  while (events.length < size && looked < LOOKED_AT_MOST) {
    const chunk = await read({ ...only, limit, before: before ?? undefined }, signal);
    for (const event of chunk.reverse()) {
      looked += 1;
      before = event.seq;
      if (wanted.from !== null && new Date(event.ts).getTime() < wanted.from) return { events, next: null, looked };
      if (wants(event, wanted)) events.push(event);
      if (events.length === size) return { events, next: before, looked };
    }
    if (chunk.length < limit) return { events, next: null, looked };
  }
  return { events, next: before, looked };
}

/** The last event that had happened by a time: a search by halves, a call each. */
export async function seqAt(time: number, last: number, read: Read = readLog): Promise<number> {
  let low = 1;
  let high = Math.max(last, 1);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const [event] = await read({ before: middle + 1, limit: 1 });
    if (event && new Date(event.ts).getTime() <= time) low = middle;
    else high = middle - 1;
  }
  return low;
}
