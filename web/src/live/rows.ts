/** The rules that most lists follow: the thing after the change replaces the row. */
import type { LogEvent } from "./protocol";
import type { ListRule, Row } from "./store";

type Change = ListRule["kinds"][string];

/** The thing after the change; of the row before only those fields stay that no event carries. */
export function replaced(...kept: string[]): Change {
  return (before, event) => {
    const after: Row = { ...event.data };
    for (const field of kept)
      if (before?.[field] !== undefined && after[field] === undefined) after[field] = before[field];
    if (event.says) after.says = event.says;
    return after;
  };
}

/** The same, and the row goes when it is over. */
export function replacedUntil(over: (row: Row) => boolean, ...kept: string[]): Change {
  const replace = replaced(...kept);
  return (before, event: LogEvent) => {
    const after = replace(before, event) as Row;
    return over(after) ? null : after;
  };
}

export const removed: Change = () => null;

/** Rows known by one field, or by their scene and one field where names may repeat between scenes. */
export function byField(field: string): ListRule["key"] {
  return (row) => (typeof row[field] === "string" ? String(row[field]) : undefined);
}

export function bySceneAnd(field: string): ListRule["key"] {
  return (row) => (typeof row[field] === "string" ? `${row.scene ?? ""}/${row[field]}` : undefined);
}

const ENDED = new Set(["completed", "partial", "failed", "cancelled", "canceled", "ended"]);
export const isOver = (row: Row): boolean => ENDED.has(String(row.status));

const decisionKey: ListRule["key"] = (row) =>
  typeof row.decisionId === "string" ? row.decisionId : byField("id")(row);
const asItIs: Change = (_, event) => event.data;

/** A step of a run has changed: the run's sentence is the step's, and one that has ended counts. */
const stepOfRun: Change = (before, event) => {
  if (before === undefined) return undefined;
  const progress = before.progress as { done: number; total: number } | undefined;
  const ended = STEP_ENDS.has(String(event.data.status));
  const counted = (before.counted ?? []) as string[];
  const id = String(event.data.stepId);
  const fresh = ended && !counted.includes(id);
  const done = Math.min((progress?.done ?? 0) + (fresh ? 1 : 0), progress?.total ?? 0);
  return {
    ...before,
    counted: fresh ? [...counted, id] : counted,
    progress: progress && { ...progress, done },
    says: `${before.name ?? before.runId}: ${event.says ?? ""}`,
  };
};
const STEP_ENDS = new Set(["completed", "failed", "skipped", "denied", "cancelled"]);

/** The lists every installation has. */
export const CORE_RULES: readonly ListRule[] = [
  {
    list: "decisions",
    key: decisionKey,
    kinds: { decisionOpened: asItIs, proposalMade: asItIs, decisionAnswered: removed, decisionWithdrawn: removed },
  },
  { list: "runs", key: byField("runId"), kinds: { stepUpdated: stepOfRun, runFinished: replaced() } },
  { list: "scenes", key: byField("name"), kinds: {} },
];
