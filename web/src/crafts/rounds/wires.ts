/** The wires between cards, measured from where the cards are: from a card's right edge to the input that takes it. */
import { type RefObject, useLayoutEffect, useState } from "react";
import type { SubGoal } from "./results";

export interface Wire {
  key: string;
  d: string;
  slot: string;
  /** Whether what it carries has been delivered. */
  isLive: boolean;
}

export interface Wires {
  width: number;
  height: number;
  paths: readonly Wire[];
}

const NONE: Wires = { width: 0, height: 0, paths: [] };

export function useWires(box: RefObject<HTMLDivElement | null>, subGoals: readonly SubGoal[]): Wires {
  const [wires, setWires] = useState<Wires>(NONE);
  useLayoutEffect(() => {
    const inside = box.current;
    if (inside === null) return;
    const measure = () => setWires(measured(inside, subGoals));
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(inside);
    for (const card of inside.querySelectorAll("[data-sub-goal]")) watch.observe(card);
    return () => watch.disconnect();
  }, [box, subGoals]);
  return wires;
}

function measured(inside: HTMLElement, subGoals: readonly SubGoal[]): Wires {
  const origin = inside.getBoundingClientRect();
  const paths: Wire[] = [];
  const done = new Set([0, ...subGoals.filter((one) => one.status === "success").map((one) => one.id)]);
  for (const one of subGoals) {
    const card = inside.querySelector(`[data-sub-goal="${one.id}"]`);
    for (const [name, ref] of Object.entries(one.inputs as Record<string, { from_sub_goal: number; slot: string }>)) {
      const from = inside.querySelector(`[data-sub-goal="${ref.from_sub_goal}"]`)?.getBoundingClientRect();
      const to = card?.querySelector(`[data-input="${CSS.escape(name)}"]`)?.getBoundingClientRect();
      const edge = card?.getBoundingClientRect();
      if (from === undefined || to === undefined || edge === undefined) continue;
      const d = curve(
        { left: from.left - origin.left, right: from.right - origin.left, y: from.top - origin.top + 22 },
        { left: edge.left - origin.left, y: to.top - origin.top + to.height / 2 },
      );
      paths.push({ key: `${one.id} ${name}`, d, slot: ref.slot, isLive: done.has(ref.from_sub_goal) });
    }
  }
  return { width: inside.scrollWidth, height: inside.scrollHeight, paths };
}

/** To the right where the taker stands to the right; along the left side where both stand in one column. */
export function curve(from: { left: number; right: number; y: number }, to: { left: number; y: number }): string {
  if (to.left > from.right) {
    const bend = Math.max(18, (to.left - from.right) / 2);
    return `M${from.right} ${from.y} C${from.right + bend} ${from.y} ${to.left - bend} ${to.y} ${to.left} ${to.y}`;
  }
  return `M${from.left} ${from.y} C${from.left - 16} ${from.y} ${to.left - 16} ${to.y} ${to.left} ${to.y}`;
}
