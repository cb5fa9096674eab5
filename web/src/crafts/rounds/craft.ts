/** Questions answered in rounds. */
import { lazy } from "react";
import { byField, removed } from "@/live/rows";
import type { Row, Snapshot } from "@/live/store";
import type { CraftPart, Going } from "../craft";
import { pastQuestions } from "./past";

/** The decision a question waits for, where it waits for one. */
function waits(snapshot: Snapshot, questionId: unknown): boolean {
  for (const decision of snapshot.lists.decisions?.values() ?? []) {
    if ((decision.about as Row | undefined)?.questionId === questionId) return true;
  }
  return false;
}

function going(snapshot: Snapshot): Going[] {
  return [...(snapshot.lists.questions?.values() ?? [])].map((question) => ({
    key: `question-${question.questionId}`,
    state: waits(snapshot, question.questionId) ? "waiting" : "running",
    says: String(question.text),
    to: `/ask/${encodeURIComponent(String(question.questionId))}`,
    since: String(question.askedAt),
  }));
}

/** What was asked, without the workers and values that the event carries too. */
function head({ questionId, text, status, round, askedAt, by, follows }: Row): Row {
  return { questionId, text, status, round, askedAt, by, follows };
}

export const rounds: CraftPart = {
  name: "rounds",
  rules: [
    {
      list: "questions",
      key: byField("questionId"),
      kinds: {
        questionAsked: (_, event) => head(event.data),
        plannerCalled: (before, event) => before && { ...before, round: event.data.round },
        questionFinished: removed,
      },
    },
  ],
  quiet: ["subGoalUpdated", "plannerDecided"],
  past: [pastQuestions],
  ways: { questionId: (id) => `/ask/${encodeURIComponent(id)}` },
  screens: [
    {
      path: "/ask",
      title: "Ask",
      view: lazy(() => import("./Ask")),
      rail: { icon: "ask", key: "a", order: 70, says: "Questions about what has been going on" },
    },
    { path: "/ask/:id", title: "Question", view: lazy(() => import("./Ask")) },
  ],
  going,
  palette: (snapshot) => [
    { name: "ask", says: "A question about what has been going on", to: "/ask" },
    ...going(snapshot).map((one) => ({ name: "ask, being answered", says: one.says, to: one.to })),
  ],
};
