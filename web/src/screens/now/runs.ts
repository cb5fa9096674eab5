/** The runs that go on, for Happening. */
import type { Going } from "@/crafts/craft";
import { isOver } from "@/live/rows";
import type { Snapshot } from "@/live/store";

export function runsGoing(snapshot: Snapshot): Going[] {
  const open = [...(snapshot.lists.runs?.values() ?? [])].filter((run) => !isOver(run));
  return open.map((run) => {
    const progress = run.progress as { done: number; total: number } | undefined;
    return {
      key: `run-${run.runId}`,
      state: String(run.status),
      says: String(run.says ?? run.name ?? run.runId),
      to: `/runs/${encodeURIComponent(String(run.runId))}`,
      since: String(run.startedAt),
      progress: progress && progress.total > 0 ? progress.done / progress.total : undefined,
    };
  });
}
