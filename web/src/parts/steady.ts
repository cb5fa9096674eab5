/**
 * Lists that hold still under the reader: while the pointer is over them or the focus is inside, no card moves, comes
 * or goes. What changed waits and is told by a count; a row that is gone stays where it is, marked as over.
 */
import { type FocusEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";

export interface Steady<T> {
  items: readonly T[];
  /** Keys of shown items that are not there any more. */
  gone: ReadonlySet<string>;
  /** How many new ones wait to be shown. */
  waiting: number;
  show: () => void;
  /** For the element round the list. */
  watch: {
    onPointerEnter: (event: PointerEvent<HTMLElement>) => void;
    onPointerLeave: () => void;
    onFocus: (event: FocusEvent<HTMLElement>) => void;
    onBlur: (event: FocusEvent<HTMLElement>) => void;
  };
}

export function useSteady<T>(fresh: readonly T[], keyOf: (item: T) => string): Steady<T> {
  const [over, setOver] = useState(false);
  const [inside, setInside] = useState(false);
  const [, setShown] = useState(0);
  const kept = useRef(fresh);
  const place = useRef<HTMLElement>(null);
  // An element that is taken away with the focus, or from under the pointer, tells nobody that it has lost it.
  useEffect(() => {
    if (inside && !place.current?.contains(document.activeElement)) setInside(false);
    if (over && !place.current?.matches(":hover")) setOver(false);
  });
  const still = over || inside;
  if (!still) kept.current = fresh;
  const known = new Map(fresh.map((item) => [keyOf(item), item]));
  const items = still ? kept.current.map((item) => known.get(keyOf(item)) ?? item) : fresh;
  const shown = new Set(items.map(keyOf));
  const gone = new Set([...shown].filter((key) => !known.has(key)));
  const waiting = fresh.filter((item) => !shown.has(keyOf(item))).length;
  const watch = useMemo(
    () => ({
      onPointerEnter: (event: PointerEvent<HTMLElement>) => {
        place.current = event.currentTarget;
        setOver(true);
      },
      onPointerLeave: () => setOver(false),
      onFocus: (event: FocusEvent<HTMLElement>) => {
        place.current = event.currentTarget;
        setInside(true);
      },
      onBlur: (event: FocusEvent<HTMLElement>) => {
        if (!event.currentTarget.contains(event.relatedTarget)) setInside(false);
      },
    }),
    [],
  );
  const show = () => {
    kept.current = fresh;
    setShown((before) => before + 1);
  };
  return { items, gone, waiting, show, watch };
}
