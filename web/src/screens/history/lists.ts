/** The lists of the past that every installation has, and those that crafts bring, in the order of the tabs. */
import { get, type Schemas } from "@/api/client";
import { CRAFTS } from "@/crafts";
import type { Past, PastList } from "@/crafts/craft";

const OVER = new Set(["completed", "partial", "failed", "cancelled"]);

function pastRun(run: Schemas["RunHeadShape"]): Past {
  return {
    key: run.runId,
    to: `/runs/${encodeURIComponent(run.runId)}`,
    name: run.name ?? run.runId,
    says: run.name ? run.runId : undefined,
    state: run.paused && !OVER.has(run.status) ? "paused" : run.status,
    at: run.startedAt,
    endedAt: run.finishedAt,
    scene: run.scene,
    by: run.startedBy,
    why: run.summary?.firstError,
    over: OVER.has(run.status),
    row: run,
    runId: run.runId,
  };
}

const REFUSING = new Set(["deny", "abort", "stop", "cancel", "fail"]);

export function pastDecision(decision: Schemas["DecisionShape"]): Past {
  const { answer, about } = decision;
  const refused = answer && REFUSING.has(answer.verb);
  const state = decision.status === "open" ? "waiting" : answer ? (refused ? "denied" : "completed") : "canceled";
  const word = answer ? `Answered: ${answer.verb.replaceAll("-", " ")}` : "Withdrawn";
  return {
    key: decision.id,
    to: `/inbox/${encodeURIComponent(decision.id)}`,
    name: decision.title,
    state,
    word: decision.status === "open" ? undefined : word,
    at: decision.openedAt,
    endedAt: answer?.at || null,
    scene: typeof about.scene === "string" ? about.scene : null,
    by: answer?.by,
    why: decision.why,
    note: answer?.note,
    over: decision.status !== "open",
    row: decision,
  };
}

async function readDecisions(limit: number, signal: AbortSignal): Promise<Past[]> {
  const [open, closed] = await Promise.all([
    get("/api/v1/inbox", { signal }),
    get("/api/v1/inbox", { query: { open: false, limit }, signal }),
  ]);
  return [...open, ...closed].map(pastDecision).sort(newestFirst);
}

function pastPlan(plan: Schemas["PlanHeadShape"]): Past {
  return {
    key: plan.id,
    to: `/plans/${encodeURIComponent(plan.id)}`,
    name: plan.name ?? plan.id,
    says: plan.name ? plan.id : undefined,
    state: "created",
    word: `Version ${plan.version}`,
    at: plan.createdAt,
    scene: plan.scene,
    by: plan.planner,
    over: true,
    row: plan,
  };
}

export const timeOf = (at: string | number): number => new Date(at).getTime();
export const newestFirst = (one: Past, other: Past): number => timeOf(other.at) - timeOf(one.at);

const RUNS: PastList = {
  what: "runs",
  title: "Runs",
  none: { says: "No plan has been run yet.", button: "Plan something", to: "/new" },
  read: async (limit, signal) => (await get("/api/v1/runs", { query: { limit }, signal })).map(pastRun),
  concerns: (kind) => kind.startsWith("run"),
};

const DECISIONS: PastList = {
  what: "decisions",
  title: "Decisions",
  none: { says: "Nobody has been asked to decide anything yet.", button: "Plan something", to: "/new" },
  read: readDecisions,
  concerns: (kind) => kind.startsWith("decision"),
};

const PLANS: PastList = {
  what: "plans",
  title: "Plans",
  none: { says: "There is no plan yet.", button: "Plan something", to: "/new" },
  read: async (limit, signal) => (await get("/api/v1/plans", { query: { limit }, signal })).map(pastPlan),
  concerns: (kind) => kind.startsWith("plan"),
};

export const LISTS: readonly PastList[] = [RUNS, ...CRAFTS.flatMap((craft) => craft.past ?? []), DECISIONS, PLANS];
