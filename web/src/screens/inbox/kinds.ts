/** The kinds of decisions: the word for each, and the state it looks like. */
import type { Schemas } from "@/api/client";

export type Decision = Schemas["DecisionShape"];

const KINDS: Record<string, { word: string; state: string }> = {
  review: { word: "Review", state: "waiting" },
  approval: { word: "Approval", state: "waiting" },
  failure: { word: "Failed step", state: "failed" },
  inDoubt: { word: "In doubt", state: "in_doubt" },
  drift: { word: "The world has changed", state: "stale" },
  silent: { word: "Silent machine", state: "offline" },
  machineHeld: { word: "Machine in use", state: "blocked" },
  question: { word: "Question", state: "waiting" },
  hold: { word: "Held", state: "held" },
  bug: { word: "Defect", state: "error" },
  not_live: { word: "Not live", state: "error" },
};

export function kindOf(decision: Decision): { word: string; state: string } {
  const kind = isInDoubt(decision) ? "inDoubt" : decision.kind;
  return KINDS[kind] ?? { word: kind, state: "waiting" };
}

/** Whether nobody knows what has happened; work that is only held says so in its evidence. */
function isInDoubt(decision: Decision): boolean {
  return decision.kind === "inDoubt" || decision.evidence?.inDoubt === true;
}

/** Verbs that end or refuse something: they take a note, and are asked once more. */
const SHARP = new Set(["deny", "abort", "stop", "cancel", "fail", "deactivate"]);

export function isSharp(verb: string): boolean {
  return SHARP.has(verb);
}

/** The verb that stands out. Where nobody can know what is right, none does. */
export function firstVerb(decision: Decision): string | undefined {
  if (isInDoubt(decision) || ["silent", "drift", "bug"].includes(decision.kind)) return undefined;
  return decision.verbs.find((verb) => !isSharp(verb));
}

export function verbWord(verb: string): string {
  const words = verb.replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
