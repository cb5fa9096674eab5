/** What lives in a cell: its state, its document, the run under way in it, and else the plan that waits. */
import { useMemo } from "react";
import { get, type Schemas } from "@/api/client";
import { useFetched, useList } from "@/live/hooks";
import { type Cell, type CellDocument, documentOf, NO_WAY, type Way, type WayStep, wayOf } from "./model";

type Run = Schemas["RunShape"];
type RunHead = Schemas["RunHeadShape"];
type Decision = Schemas["DecisionShape"];

export function useCellDocument(name: string): { document: CellDocument | null; active: boolean } {
  const found = useFetched(
    `scene ${name}`,
    (signal) => get("/api/v1/scenes/{name}", { path: { name }, signal }),
    (event) => ["sceneSaved", "sceneActivated", "sceneDeactivated"].includes(event.kind),
  );
  const scene = found.value as Schemas["SceneShape"] | undefined;
  return { document: useMemo(() => (scene ? documentOf(scene) : null), [scene]), active: scene?.active ?? false };
}

/** Every cell the home knows; those that are live change as events come. */
export function useCells(): { cells: readonly Cell[]; ready: boolean } {
  const live = useList<Cell>("cells");
  const known = useFetched(
    "cells",
    (signal) => get("/api/v1/cells", { signal }),
    (event) => event.kind.startsWith("scene") || event.kind === "cellStateChanged",
  );
  const cells = ((known.value ?? []) as Cell[]).map((cell) => live.get(cell.scene) ?? cell);
  return { cells: cells.length > 0 ? cells : [...live.values()], ready: known.value !== undefined || live.size > 0 };
}

const OVER = new Set(["completed", "partial", "failed", "cancelled"]);

/** The run under way in this cell, with its steps. */
export function useRunOf(scene: string): Run | null {
  const runs = useList<RunHead>("runs");
  const head = [...runs.values()].find(
    (run) => !OVER.has(run.status) && (run.scene === scene || run.machines?.includes(`cell:${scene}`)),
  );
  const id = head?.runId ?? null;
  const { value } = useFetched(
    id === null ? null : `run ${id}`,
    (signal) => get("/api/v1/runs/{run_id}", { path: { run_id: id ?? "" }, signal }),
    (event) => event.about.runId === id,
  );
  return (value as Run | undefined) ?? null;
}

export interface Waiting {
  planId: string;
  title: string;
  steps: readonly WayStep[];
  decisionId: string;
}

/** The plan for this cell that waits longest for review. */
export function useWaiting(scene: string): Waiting | null {
  const decisions = useList<Decision>("decisions");
  return useMemo(() => {
    for (const decision of decisions.values()) {
      const steps = (decision.evidence?.steps ?? []) as WayStep[];
      if (decision.kind !== "review" || !steps.some((step) => step.args?.scene === scene)) continue;
      const planId = String(decision.about?.planId ?? "");
      return { planId, title: decision.title, steps, decisionId: decision.id };
    }
    return null;
  }, [decisions, scene]);
}

/** The way of the run under way, else of the plan that waits. */
export function useWay(run: Run | null, waiting: Waiting | null, standing: string | null): Way {
  const start = useStart(run);
  return useMemo(() => {
    if (run) return wayOf(run.steps as WayStep[], start);
    return waiting ? wayOf(waiting.steps, standing) : NO_WAY;
  }, [run, start, waiting, standing]);
}

/** Where a run's robot stood when it was planned. */
function useStart(run: Run | null): string | null {
  const { value } = useFetched(run === null ? null : `plan ${run.planId} ${run.version}`, (signal) =>
    get("/api/v1/plans/{plan_id}", {
      path: { plan_id: run?.planId ?? "" },
      query: { version: run?.version },
      signal,
    }),
  );
  const world = (value as Schemas["PlanShape"] | undefined)?.world as { current_position?: string } | null | undefined;
  return world?.current_position ?? null;
}
