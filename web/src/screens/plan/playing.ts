/** A clock for a preview: played, paused, moved. Whatever it lasts, playing all of it takes 4 to 40 seconds. */
import { useCallback, useEffect, useRef, useState } from "react";

export interface Playing {
  atS: number;
  on: boolean;
  /** How many of the plan's seconds pass in one. */
  rate: number;
  seek: (atS: number) => void;
  toggle: () => void;
}

export function rateFor(durationS: number): number {
  return durationS <= 0 ? 1 : durationS / Math.min(Math.max(durationS, 4), 40);
}

export function usePlaying(durationS: number, begin = 0): Playing {
  const [atS, setAt] = useState(begin);
  const [on, setOn] = useState(false);
  const now = useRef(begin);
  const rate = rateFor(durationS);
  const seek = useCallback(
    (next: number) => {
      now.current = Math.min(Math.max(next, 0), durationS);
      setAt(now.current);
    },
    [durationS],
  );
  useEffect(() => {
    if (!on) return;
    let before = performance.now();
    let frame = requestAnimationFrame(function advance(time: number) {
      now.current = Math.min(now.current + ((time - before) / 1_000) * rate, durationS);
      before = time;
      setAt(now.current);
      if (now.current >= durationS) setOn(false);
      else frame = requestAnimationFrame(advance);
    });
    return () => cancelAnimationFrame(frame);
  }, [on, rate, durationS]);
  const toggle = useCallback(() => {
    if (!on && now.current >= durationS) seek(0);
    setOn(!on);
  }, [on, durationS, seek]);
  return { atS, on, rate, seek, toggle };
}
