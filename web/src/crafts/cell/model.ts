/** A cell as its scene describes it, and the way a plan or run takes through it. */
import type { Schemas } from "@/api/client";

export interface CellPosition {
  name: string;
  x?: number | null;
  y?: number | null;
  role?: string | null;
}

export interface CellDocument {
  name: string;
  positions: readonly CellPosition[];
  moves: readonly { from: string; to: string; one_way?: boolean }[];
  tools: readonly { name: string; stand?: string | null }[];
  routines: readonly { name: string }[];
  controller?: unknown;
}

export type Cell = Schemas["CellShape"];
export const NO_TOOL = "none";

export function documentOf(scene: Schemas["SceneShape"]): CellDocument {
  const told = scene.document as Partial<CellDocument>;
  const moves = (told.moves ?? []).map((move) =>
    Array.isArray(move) ? { from: String(move[0]), to: String(move[1]) } : move,
  );
  return {
    name: scene.name,
    positions: told.positions ?? [],
    moves,
    tools: told.tools ?? [],
    routines: told.routines ?? [],
    controller: told.controller,
  };
}

export type Progress = "ahead" | "done" | "now";
const RANK: Record<Progress, number> = { ahead: 0, done: 1, now: 2 };

/** What a plan does in the cell: each hop between positions and each stop, with how far it has come. */
export interface Way {
  hops: ReadonlyMap<string, Progress>;
  stops: ReadonlyMap<string, { says: string; progress: Progress }[]>;
}

export const NO_WAY: Way = { hops: new Map(), stops: new Map() };
export const hopKey = (one: string, other: string): string => [one, other].sort().join("\n");

export interface WayStep {
  tool: string;
  args: Record<string, unknown>;
  description?: string;
  status?: string;
}

export function wayOf(steps: readonly WayStep[], start: string | null): Way {
  const hops = new Map<string, Progress>();
  const stops = new Map<string, { says: string; progress: Progress }[]>();
  let here = start;
  for (const step of steps) {
    const progress = progressOf(step.status ?? "pending");
    if (step.tool === "cell.move") {
      const target = String(step.args.target);
      const key = here === null ? "" : hopKey(here, target);
      if (here !== null && RANK[progress] >= RANK[hops.get(key) ?? "ahead"]) hops.set(key, progress);
      here = target;
    } else if (step.tool === "cell.routine") {
      const at = String(step.args.position);
      stops.set(at, [...(stops.get(at) ?? []), { says: step.description ?? String(step.args.target), progress }]);
    }
  }
  return { hops, stops };
}

function progressOf(status: string): Progress {
  if (status === "completed" || status === "skipped") return "done";
  return ["running", "inDoubt", "in_doubt", "failed", "retrying"].includes(status) ? "now" : "ahead";
}

/** Where the robot is in a preview at a moment, and what it holds then. */
export interface Moment {
  from: string | null;
  to: string | null;
  share: number;
  tool: string;
  stepId: string | number | null;
}

export function momentAt(
  timeline: readonly Schemas["TimelineShape"][],
  start: { position: string | null; tool: string },
  atS: number,
): Moment {
  let [position, tool] = [start.position, start.tool];
  for (const one of timeline) {
    if (atS < one.startS) break;
    if (atS >= one.endS) {
      position = one.position ?? position;
      tool = one.tool ?? tool;
      continue;
    }
    const share = (atS - one.startS) / Math.max(one.endS - one.startS, 1e-9);
    if (one.action === "move")
      return { from: one.from ?? position, to: one.position ?? null, share, tool, stepId: one.stepId };
    return { from: position, to: position, share: 0, tool, stepId: one.stepId };
  }
  return { from: position, to: position, share: 0, tool, stepId: null };
}
