/** Embodied agents: sessions with a body, steered by start, stop, skip and end. */
import { lazy } from "react";
import { byField, removed, replaced } from "@/live/rows";
import { look } from "@/parts/StateMark";
import type { CraftPart } from "../craft";
import { pastSessions } from "./past";

export const agent: CraftPart = {
  name: "agent",
  sceneKind: "home",
  example: "bring cup1 to table1, then sit on bed1",
  questions: (snapshot) => ((snapshot.lists.sessions?.size ?? 0) > 0 ? ["sessions today"] : []),
  looks: {
    missed: look("wait", "slash", "Goal not reached"),
    moving: look("busy", "half", "Moving"),
    acting: look("busy", "dot", "Acting"),
    stuck: look("wait", "bar", "Stuck"),
  },
  rules: [
    {
      list: "sessions",
      key: byField("sessionId"),
      kinds: {
        sessionStarted: replaced(),
        commandGiven: replaced(),
        sessionUpdated: replaced(),
        sessionEnded: removed,
      },
    },
  ],
  quiet: ["actionUpdated", "worldDisturbed"],
  past: [pastSessions],
  ways: { sessionId: (id) => `/sessions/${encodeURIComponent(id)}` },
  screens: [{ path: "/sessions/:id", title: "Session", view: lazy(() => import("./Session")) }],
  newForm: {
    title: "An agent’s session",
    says: "Steer a body in a home by start, stop, skip and end",
    view: lazy(() => import("./NewSession")),
  },
  palette: (snapshot) =>
    [...(snapshot.lists.sessions?.values() ?? [])].map((session) => ({
      name: `agent steer ${session.scene}`,
      says: String(session.says ?? session.goal ?? ""),
      to: `/sessions/${encodeURIComponent(String(session.sessionId))}`,
    })),
  going: (snapshot) =>
    [...(snapshot.lists.sessions?.values() ?? [])].map((session) => ({
      key: `session-${session.sessionId}`,
      state: String(session.status),
      says: String(session.says),
      to: `/sessions/${encodeURIComponent(String(session.sessionId))}`,
      since: String(session.startedAt),
    })),
};
