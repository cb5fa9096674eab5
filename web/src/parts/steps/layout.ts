/**
 * Where the steps of a graph stand. Goals that are folded are one box. Nodes and edges are handed to dagre sorted by id,
 * so that the same plan always comes out the same and a change of state moves nothing.
 */
import dagre from "@dagrejs/dagre";
import { goalOf, goalsOf, needsOf, type Step, stateOfAll } from "./steps";

export interface Box {
  id: string;
  /** The step, or the steps of a folded goal. */
  step?: Step;
  goal?: { key: string; says: string; count: number };
  state: string;
  x: number;
  y: number;
}

export interface Wire {
  id: string;
  from: string;
  to: string;
}

export const BOX = { width: 224, height: 64 };

export function laidOut(steps: readonly Step[], open: ReadonlySet<string>, down: boolean): [Box[], Wire[]] {
  const boxOf = new Map<string, string>();
  const boxes = new Map<string, Box>();
  for (const goal of goalsOf(steps)) {
    if (open.has(goal.key) || goal.steps.length < 2) continue;
    const id = `goal:${goal.key}`;
    for (const step of goal.steps) boxOf.set(step.id, id);
    const told = { key: goal.key, says: goal.says, count: goal.steps.length };
    boxes.set(id, { id, goal: told, state: stateOfAll(goal.steps), x: 0, y: 0 });
  }
  for (const step of steps) {
    if (boxOf.has(step.id)) continue;
    boxOf.set(step.id, step.id);
    const goal = goalOf(step);
    boxes.set(step.id, {
      id: step.id,
      step,
      goal: goal ? { ...goal, count: 1 } : undefined,
      state: step.status,
      x: 0,
      y: 0,
    });
  }
  const wires = wiresOf(steps, boxOf);
  place([...boxes.values()], wires, down);
  return [[...boxes.values()], wires];
}

function wiresOf(steps: readonly Step[], boxOf: ReadonlyMap<string, string>): Wire[] {
  const known = new Set(steps.map((step) => step.id));
  const wires = new Map<string, Wire>();
  for (const step of steps) {
    const to = boxOf.get(step.id) ?? step.id;
    for (const need of needsOf(step, known)) {
      const from = boxOf.get(need) ?? need;
      if (from !== to) wires.set(`${from} ${to}`, { id: `${from} ${to}`, from, to });
    }
  }
  return [...wires.values()];
}

function place(boxes: readonly Box[], wires: readonly Wire[], down: boolean): void {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: down ? "TB" : "LR", nodesep: 20, ranksep: 44, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);
  for (const box of [...boxes].sort(byId)) graph.setNode(box.id, { ...BOX });
  for (const wire of [...wires].sort(byId)) graph.setEdge(wire.from, wire.to);
  dagre.layout(graph);
  for (const box of boxes) {
    const at = graph.node(box.id);
    box.x = at.x - BOX.width / 2;
    box.y = at.y - BOX.height / 2;
  }
}
