/** What a stream would do now, asked again whenever something in its scene changes; only why, for who may only read. */
import { useEffect, useRef } from "react";
import { ask, type Refusal, type Schemas } from "@/api/client";
import { useFetched, useStore } from "@/live/hooks";

export type Stream = Schemas["StreamShape"];
export type Trial = Schemas["StreamTrialShape"];
export type Settings = { enabled?: boolean; priority?: number };

export const keyOf = (stream: Stream): string => `${stream.scene}/${stream.streamId}`;

export function labelOf(stream: Stream): string {
  const label = stream.meta?.label;
  return typeof label === "string" && label !== "" ? label : stream.streamId;
}

export const stateOf = (stream: Stream): string => (stream.enabled ? "online" : "paused");

export function tryOut(stream: Stream, settings: Settings, signal?: AbortSignal): Promise<Trial> {
  return ask("/api/v1/streams/{stream_id}/dry-run", {
    path: { stream_id: stream.streamId },
    query: { scene: stream.scene },
    body: settings,
    signal,
  });
}

const CHANGES = new Set(["taskCreated", "streamUpdated", "worksiteUpdated"]);

export interface Tried {
  value: Trial | undefined;
  refusal: Refusal | null;
}

/** Asked at most once in `everyMs`, however much happens, and only when something did. */
export function useTrial(stream: Stream, everyMs: number): Tried {
  const store = useStore();
  const trial = useFetched(`try ${keyOf(stream)}`, (signal) => tryOut(stream, {}, signal));
  const again = useRef(() => {});
  again.current = trial.again;
  useEffect(() => {
    let changed = false;
    const stop = store.onEvent((event) => {
      if (event.scene === stream.scene && CHANGES.has(event.kind)) changed = true;
    });
    const timer = setInterval(() => {
      if (changed) again.current();
      changed = false;
    }, everyMs);
    return () => {
      stop();
      clearInterval(timer);
    };
  }, [store, stream.scene, everyMs]);
  return { value: trial.value, refusal: trial.refusal };
}
