/** Plans that a model writes. */
import { lazy } from "react";
import { byField, removed } from "@/live/rows";
import type { CraftPart } from "../craft";

export const drafting: CraftPart = {
  name: "drafting",
  rules: [
    {
      list: "drafts",
      key: byField("draftId"),
      kinds: {
        draftStarted: (_, event) => ({ ...event.data, says: event.says }),
        draftTried: (_, event) => ({ ...event.data, says: event.says }),
        draftFinished: removed,
        draftFailed: removed,
      },
    },
  ],
  ways: { draftId: (id) => `/new?draft=${encodeURIComponent(id)}` },
  going: (snapshot) =>
    [...(snapshot.lists.drafts?.values() ?? [])].map((draft) => ({
      key: `draft-${draft.draftId}`,
      state: "running",
      says: String(draft.says ?? draft.text),
      to: `/new?draft=${encodeURIComponent(String(draft.draftId))}`,
      since: String(draft.startedAt),
    })),
  newForm: {
    title: "A model drafts it",
    says: "The model that is set writes a plan from your words, with the tools there are. Every try is checked; you review it.",
    view: lazy(() => import("./DraftForm")),
  },
  palette: () => [{ name: "draft", says: "Have a model write a plan from words", to: "/new#drafting" }],
};
