/** What steps are to each other: who waits for whom, which goal each serves, and what a move would break. */
import type { Schemas } from "@/api/client";
import { duration } from "../time";

export type Step = Schemas["StepShape"];

export interface Goal {
  key: string;
  says: string;
  steps: readonly Step[];
}

const REFERENCE = /\$\{?(\w[\w-]*)/g;

/** What a step waits for: what it says, and the steps whose results its arguments use. */
export function needsOf(step: Step, known: ReadonlySet<string>): string[] {
  const names = new Set(step.dependsOn);
  const text = JSON.stringify([step.args, step.forEach ?? null, step.when ?? null]);
  for (const [, name] of text.matchAll(REFERENCE)) if (name && known.has(name)) names.add(name);
  names.delete(step.id);
  return [...names].filter((name) => known.has(name));
}

/** The order after a step was put where another stands. */
export function moved<T extends { id: string }>(steps: readonly T[], id: string, to: number): T[] {
  const step = steps.find((one) => one.id === id);
  if (step === undefined) return [...steps];
  const rest = steps.filter((one) => one.id !== id);
  return [...rest.slice(0, to), step, ...rest.slice(to)];
}

/** The first dependency that an order breaks for one of its steps: `later` needs `earlier` before it. */
export function brokenBy(order: readonly Step[], id: string): { later: string; earlier: string } | null {
  const place = new Map(order.map((step, index) => [step.id, index]));
  const known = new Set(place.keys());
  for (const step of order) {
    for (const need of needsOf(step, known)) {
      const concerned = step.id === id || need === id;
      if (concerned && (place.get(need) ?? 0) > (place.get(step.id) ?? 0)) return { later: step.id, earlier: need };
    }
  }
  return null;
}

export function goalOf(step: Step): { key: string; says: string } | null {
  const { goal } = step;
  if (!goal || goal.says === undefined) return null;
  return { key: String(goal.index ?? goal.says), says: String(goal.says) };
}

/** The goals in the order of their first steps. */
export function goalsOf(steps: readonly Step[]): Goal[] {
  const found = new Map<string, { key: string; says: string; steps: Step[] }>();
  for (const step of steps) {
    const goal = goalOf(step);
    if (goal === null) continue;
    const known = found.get(goal.key) ?? { ...goal, steps: [] };
    known.steps.push(step);
    found.set(goal.key, known);
  }
  return [...found.values()];
}

const LOUDEST = ["failed", "inDoubt", "denied", "running", "waiting", "blocked", "cancelled", "ready", "pending"];

/** The state of several steps as one: what is loudest, and done only when all are. */
export function stateOfAll(steps: readonly Step[]): string {
  const states = new Set<string>(steps.map((step) => step.status));
  if (states.has("completed") && states.has("pending") && !states.has("failed")) return "running";
  return LOUDEST.find((state) => states.has(state)) ?? (states.has("completed") ? "completed" : "skipped");
}

/** A value as one short line. */
export function inShort(value: unknown, longest = 48): string {
  const text = (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).replaceAll(/\s+/g, " ");
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

export function callInShort(step: Pick<Step, "tool" | "args">, but = ""): string {
  const args = Object.entries(step.args).filter(([name]) => name !== but);
  return `${step.tool}(${args.map(([name, value]) => `${name}: ${inShort(value, 40)}`).join(", ")})`;
}

/** A time in a plan, where a step may last a few milliseconds. */
export function span(seconds: number): string {
  if (seconds === 0) return "0 s";
  return seconds < 1 ? `${Math.max(1, Math.round(seconds * 1_000))} ms` : duration(seconds);
}
