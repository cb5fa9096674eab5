/** What the server says of a text as it is typed: asked a moment after the last key, the newest question only. */
import { useEffect, useState } from "react";
import { ask, asRefusal, type Refusal, type Schemas } from "@/api/client";

export type Checked = Schemas["SceneCheckShape"];

export interface Check {
  /** The text that was checked; another one than the field's while the next answer is on its way. */
  text: string | null;
  found: Checked | null;
  refusal: Refusal | null;
}

const PAUSE_MS = 300;
const NOTHING: Check = { text: null, found: null, refusal: null };

export function useCheck(text: string, on: boolean): Check {
  const [check, setCheck] = useState<Check>(NOTHING);
  useEffect(() => {
    if (!on || text.trim() === "") {
      setCheck(NOTHING);
      return;
    }
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const found = await ask("/api/v1/scenes/check", { body: text, signal: stop.signal });
        if (!stop.signal.aborted) setCheck({ text, found, refusal: null });
      } catch (error) {
        if (!stop.signal.aborted) setCheck({ text, found: null, refusal: asRefusal(error) });
      }
    }, PAUSE_MS);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [text, on]);
  return check;
}
