/** A question's answer as it can be shown: its sentence, its tables, and where each came from. */
import type { Schemas } from "@/api/client";

export type Question = Schemas["QuestionShape"];
export type SubGoal = Schemas["SubGoalShape"];
export type Cell = string | number | boolean | null;

export interface ChartData {
  title: string;
  labels: string[];
  values: number[];
  unit: string;
  kind: "line" | "bars";
}

/** What `show_results` delivers. */
export interface Shown {
  says: string;
  columns: string[];
  rows: Cell[][];
  chart?: ChartData;
  more?: number;
  query?: unknown;
}

interface Ref {
  from_sub_goal: number;
  slot: string;
}

function isShown(value: unknown): value is Shown {
  return typeof value === "object" && value !== null && "columns" in value && "rows" in value;
}

/** The results an answer is made of, in the order they are named. */
export function resultsOf(question: Question): Shown[] {
  const byId = new Map(question.sub_goals.map((one) => [one.id, one]));
  return Object.values(question.synthesis_inputs as Record<string, Ref>)
    .map((ref) => byId.get(ref.from_sub_goal)?.outputs?.[ref.slot])
    .filter(isShown);
}

/** The answer in words: a table that is shown beside it is not written out in it as well. */
export function wordsOf(question: Question): string {
  const results = resultsOf(question);
  if (results.length > 0 && question.model === undefined) return results.map((one) => one.says).join(" ");
  return question.answer ?? "";
}

/** The sentence that says what the query looks for. */
export function summaryOf(question: Question): string {
  const made = question.sub_goals.find((one) => typeof one.outputs?.query_summary === "string");
  return made ? String(made.outputs?.query_summary) : "";
}

/** What could be meant, where a worker found something unclear. */
export function choicesOf(question: Question): string[] {
  for (const one of [...question.sub_goals].reverse()) {
    const analysis = one.outputs?.analysis_result as { choices?: unknown } | undefined;
    if (Array.isArray(analysis?.choices)) return analysis.choices.map(String);
  }
  return [];
}

export function isOpen(question: Pick<Question, "status">): boolean {
  return question.status !== "done" && question.status !== "failed";
}

/** `isWaiting` where it is known from elsewhere that a person is asked. */
export function stateOf(
  question: Pick<Question, "status" | "waitsFor">,
  isWaiting = (question.waitsFor?.length ?? 0) > 0,
): { state: string; word: string } {
  if (question.status === "done") return { state: "done", word: "Answered" };
  if (question.status === "failed") return { state: "failed", word: "Not answered" };
  if (isWaiting) return { state: "waiting", word: "Waits for you" };
  return { state: "running", word: "Being answered" };
}

export function stateOfSubGoal(one: Pick<SubGoal, "status">): { state: string; word?: string } {
  return one.status === "asked" ? { state: "waiting", word: "Waits for a person" } : { state: one.status };
}
