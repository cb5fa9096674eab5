/** The sessions of the past. */
import { get, type Schemas } from "@/api/client";
import type { Past, PastList } from "../craft";

/** Over, and not for having done what it was for. */
function isMissed({ status, goal, goalReached }: Schemas["SessionShape"]): boolean {
  return status === "ended" && Boolean(goal) && goalReached === false;
}

export function pastOf(session: Schemas["SessionShape"]): Past {
  return {
    key: session.sessionId,
    to: `/sessions/${encodeURIComponent(session.sessionId)}`,
    name: session.sessionId,
    says: session.goal ?? session.instruction ?? undefined,
    state: isMissed(session) ? "missed" : session.status,
    word: session.goalReached ? "Goal reached" : undefined,
    at: session.startedAt,
    scene: session.scene,
    by: session.steeredBy,
    why: session.reason,
    over: session.status !== "open",
    row: session,
  };
}

export const pastSessions: PastList = {
  what: "sessions",
  title: "Sessions",
  none: { says: "No agent has had a session yet.", button: "Start something", to: "/new" },
  read: async (limit, signal) => (await get("/api/v1/sessions", { signal })).slice(0, limit).map(pastOf),
  concerns: (kind) => kind.startsWith("session"),
};
