/** The questions of the past. */
import { get, type Schemas } from "@/api/client";
import type { Past, PastList } from "../craft";

const MOST = 1_000;
const OVER = new Set(["done", "completed", "partial", "failed", "cancelled", "canceled", "ended"]);

function pastOf(question: Schemas["QuestionHeadShape"]): Past {
  return {
    key: question.questionId,
    to: `/ask/${encodeURIComponent(question.questionId)}`,
    name: question.text,
    says: question.answer ?? question.partial_response ?? undefined,
    state: question.status,
    at: question.askedAt,
    by: question.by,
    why: question.reason,
    over: OVER.has(question.status),
    row: question,
  };
}

export const pastQuestions: PastList = {
  what: "questions",
  title: "Questions",
  none: { says: "Nothing has been asked yet.", button: "Ask something", to: "/ask" },
  read: async (limit, signal) =>
    (await get("/api/v1/questions", { query: { limit: Math.min(limit, MOST) }, signal })).map(pastOf),
  concerns: (kind) => kind.startsWith("question"),
};
