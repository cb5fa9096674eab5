/** What the scrubber goes over: every event of a stretch of the log, or those of one run. */
import { useEffect, useMemo, useRef } from "react";
import { get } from "@/api/client";
import { useFetched } from "@/live/hooks";
import type { LogEvent } from "@/live/protocol";
import { readLog, readPage } from "./log";

export interface Track {
  count: number;
  seqOf: (index: number) => number;
  indexOf: (seq: number) => number;
}

export function stretch(from: number, to: number): Track {
  const count = Math.max(1, to - from + 1);
  const held = (index: number) => Math.min(Math.max(index, 0), count - 1);
  return { count, seqOf: (index) => from + held(index), indexOf: (seq) => held(seq - from) };
}

/** Of a list of numbers, in order. */
export function stops(seqs: readonly number[]): Track {
  const seqOf = (index: number) => seqs[Math.min(Math.max(index, 0), seqs.length - 1)] ?? 1;
  const indexOf = (seq: number) => {
    const after = seqs.findIndex((one) => one > seq);
    return Math.max(0, (after < 0 ? seqs.length : after) - 1);
  };
  return { count: seqs.length, seqOf, indexOf };
}

const OF_RUN = 5_000;

/** The events of a run, in order, and the scene it worked in. */
export function useRunEvents(run: string | null) {
  return useFetched(run && `run events ${run}`, async (signal) => {
    const { scene } = await get("/api/v1/runs/{run_id}", { path: { run_id: run ?? "" }, signal });
    const everything = { scene: "", status: "", text: "", from: null, to: null, before: null, run: run ?? "" };
    return { scene: scene ?? null, events: (await readPage(everything, OF_RUN, signal)).events.reverse() };
  });
}

const CHUNK = 60;

/** The events round a number; those that were read last stay until the next ones are there. */
export function useEventsNear(at: number | null): readonly LogEvent[] {
  const chunk = at === null ? null : Math.floor(at / CHUNK);
  const read = useFetched(chunk === null ? null : `near ${chunk}`, (signal) =>
    readLog({ before: ((chunk ?? 0) + 2) * CHUNK, limit: CHUNK * 3 }, signal),
  );
  const kept = useRef<readonly LogEvent[]>([]);
  useEffect(() => {
    if (read.value) kept.current = read.value;
  }, [read.value]);
  return read.value ?? kept.current;
}

const BEFORE = 9;
const AFTER = 5;

/** A few events before and after a number, the number's own among them. */
export function useAround(events: readonly LogEvent[], at: number): readonly LogEvent[] {
  return useMemo(() => {
    const after = events.findIndex((event) => event.seq > at);
    const here = after < 0 ? events.length : after;
    return events.slice(Math.max(0, here - BEFORE), here + AFTER);
  }, [events, at]);
}
