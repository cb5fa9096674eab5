/** How components read what is live. */
import { createContext, useContext, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { asRefusal, type Refusal } from "@/api/client";
import type { LogEvent } from "./protocol";
import type { LiveStore, Row, Snapshot } from "./store";

export const LiveContext = createContext<LiveStore | null>(null);

export function useStore(): LiveStore {
  const store = useContext(LiveContext);
  if (store === null) throw new Error("The live store is missing.");
  return store;
}

export function useLive<T>(select: (snapshot: Snapshot) => T): T {
  const store = useStore();
  const kept = useRef<{ from: Snapshot; value: T } | null>(null);
  const read = () => {
    const from = store.current();
    if (kept.current?.from !== from) kept.current = { from, value: select(from) };
    return kept.current.value;
  };
  return useSyncExternalStore(store.subscribe, read);
}

const NONE: ReadonlyMap<string, Row> = new Map();

/** One list of the state, by key. Its identity changes only when something in it did. */
export function useList<T = Row>(name: string): ReadonlyMap<string, T> {
  return useLive((snapshot) => (snapshot.lists[name] ?? NONE) as unknown as ReadonlyMap<string, T>);
}

const ROLES = ["viewer", "operator", "admin"];

/** Null where the reader may do what needs this role; otherwise why not, for the control that is disabled. */
export function useWhyNot(role: "operator" | "admin" = "operator"): string | null {
  const lacks = useLacksRole(role);
  const up = useLive((snapshot) => snapshot.up);
  return up ? lacks : "The server cannot be reached at the moment.";
}

/** Null where the reader has this role, heard or not: what holds is sent even where nothing is heard. */
export function useLacksRole(role: "operator" | "admin"): string | null {
  const me = useLive((snapshot) => snapshot.me);
  if (me !== null && ROLES.indexOf(me.role) < ROLES.indexOf(role)) {
    return `You are logged in as ${me.name} with the role ${me.role}; this needs the role ${role}.`;
  }
  return null;
}

export interface Fetched<T> {
  value: T | undefined;
  refusal: Refusal | null;
  again: () => void;
}

/**
 * Something the server answers, read when `key` changes and again after events that concern it. The last value stays
 * while a newer one is on its way, so that nothing flickers. When the server was lost and is back, what was refused
 * meanwhile is asked again, and what events would have changed is read anew.
 */
export function useFetched<T>(
  key: string | null,
  read: (signal: AbortSignal) => Promise<T>,
  concerns?: (event: LogEvent) => boolean,
): Fetched<T> {
  const store = useStore();
  const [state, setState] = useState<{ key: string | null; value?: T; refusal: Refusal | null }>({
    key: null,
    refusal: null,
  });
  const [turn, setTurn] = useState(0);
  const latest = useRef({ read, concerns, refused: false });
  latest.current = { read, concerns, refused: state.refusal !== null };
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new turn reads the same thing again
  useEffect(() => {
    if (key === null) return;
    const stop = new AbortController();
    latest.current.read(stop.signal).then(
      (value) => !stop.signal.aborted && setState({ key, value, refusal: null }),
      (error) => {
        if (!stop.signal.aborted)
          setState((before) => ({
            key,
            value: before.key === key ? before.value : undefined,
            refusal: asRefusal(error),
          }));
      },
    );
    return () => stop.abort();
  }, [key, turn]);
  const up = useLive((snapshot) => snapshot.up);
  const lost = useRef(false);
  useEffect(() => {
    const isStale = latest.current.refused || (lost.current && latest.current.concerns !== undefined);
    if (up && isStale) setTurn((before) => before + 1);
    // Before it was heard for the first time nothing was lost.
    lost.current = !up && store.current().version !== "";
  }, [store, up]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = store.onEvent((event) => {
      if (timer === undefined && latest.current.concerns?.(event)) {
        timer = setTimeout(() => {
          timer = undefined;
          setTurn((before) => before + 1);
        }, 120);
      }
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [store]);
  const mine = state.key === key;
  return {
    value: mine ? state.value : undefined,
    refusal: mine ? state.refusal : null,
    again: () => setTurn((before) => before + 1),
  };
}

/** The time, told again every `everyMs`, for ages and durations. */
export function useTick(everyMs = 1_000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
