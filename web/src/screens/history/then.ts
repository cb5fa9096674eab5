/** The state as it was: one question at a time to the server, always the newest wish next. */
import { useEffect, useRef, useState } from "react";
import { asRefusal, get, type Refusal } from "@/api/client";
import type { Row } from "@/live/store";

export interface Then {
  /** The event the state is after; behind the wish while an answer is on its way. */
  at: number;
  lists: Readonly<Record<string, readonly Row[]>>;
  hold: Row | null;
}

export function useThen(at: number | null): { then: Then | null; refusal: Refusal | null } {
  const [then, setThen] = useState<Then | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const wish = useRef(at);
  const busy = useRef(false);
  const alive = useRef(true);
  wish.current = at;
  useEffect(() => {
    alive.current = true;
    return () => {
      alive.current = false;
    };
  }, []);
  useEffect(() => {
    const next = async () => {
      const wanted = wish.current;
      if (busy.current || wanted === null) return;
      busy.current = true;
      try {
        const state = (await get("/api/v1/state", { query: { at: String(wanted) as never } })) as unknown as Row;
        if (alive.current) {
          setThen({ at: wanted, lists: listsOf(state), hold: (state.hold as Row | undefined) ?? null });
          setRefusal(null);
        }
      } catch (error) {
        if (alive.current) setRefusal(asRefusal(error));
      }
      busy.current = false;
      if (alive.current && wish.current !== wanted) void next();
    };
    if (at !== null) void next();
  }, [at]);
  return { then, refusal };
}

function listsOf(state: Row): Record<string, readonly Row[]> {
  const lists = Object.entries(state).filter((one): one is [string, Row[]] => Array.isArray(one[1]));
  return Object.fromEntries(lists);
}
