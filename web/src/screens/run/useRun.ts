/** A run as it stands and everything that happened in it, at any moment of its life. */
import { useEffect, useRef, useState } from "react";
import { get, type Schemas } from "@/api/client";
import { type Fetched, useFetched, useStore } from "@/live/hooks";
import type { LogEvent } from "@/live/protocol";

export type RunDoc = Schemas["RunShape"];

const isOf = (id: string) => (event: LogEvent) => event.about.runId === id;

/** Its own events, and that its scene is not live any more, or lives again. */
const concerns = (id: string) => (event: LogEvent) => isOf(id)(event) || event.data.kind === "not_live";

export function useRun(id: string): Fetched<RunDoc> {
  return useFetched(id, (signal) => get("/api/v1/runs/{run_id}", { path: { run_id: id }, signal }), concerns(id));
}

const MOST = 1_000;

/** The log of the run: what was there when the screen opened, and every event since. */
export function useLog(id: string): readonly LogEvent[] {
  const store = useStore();
  const read = useFetched(`log ${id}`, async (signal) => {
    return (await get("/api/v1/events", { query: { run: id, limit: MOST }, signal })) as unknown as LogEvent[];
  });
  const [since, setSince] = useState<{ id: string; events: readonly LogEvent[] }>({ id, events: [] });
  const waiting = useRef<LogEvent[]>([]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = store.onEvent((event) => {
      if (event.about.runId !== id) return;
      waiting.current.push(event);
      timer ??= setTimeout(() => {
        timer = undefined;
        const fresh = waiting.current.splice(0);
        setSince((before) => ({ id, events: [...(before.id === id ? before.events : []), ...fresh] }));
      }, 100);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [store, id]);
  const old = read.value ?? [];
  const last = old.at(-1)?.seq ?? 0;
  const fresh = since.id === id ? since.events.filter((event) => event.seq > last) : [];
  return fresh.length > 0 ? [...old, ...fresh] : old;
}

/** The newest version of a plan, so that a run can go on by it. */
export function useLatestVersion(planId: string | undefined): number | undefined {
  return useFetched(
    planId ?? null,
    (signal) => get("/api/v1/plans/{plan_id}", { path: { plan_id: planId ?? "" }, signal }),
    (event) => event.kind === "planEdited" && event.about.planId === planId,
  ).value?.version;
}
