/** Questions that fit this installation: what its crafts suggest, by the names of what is live. */
import { CRAFTS } from "@/crafts";
import { useLive } from "@/live/hooks";
import type { Snapshot } from "@/live/store";

function examplesFor(snapshot: Snapshot): string[] {
  const brought = CRAFTS.flatMap((craft) => craft.questions?.(snapshot) ?? []);
  return [...brought, "runs per hour today", "list decisions today", "what can I ask?"];
}

/** Kept as they were when the screen opened: nothing moves under the pointer. */
export function useExamples(): string[] {
  const names = useLive((snapshot) => examplesFor(snapshot).join("\n"));
  return names.split("\n");
}
