/**
 * The stops of a task, in the order they are made: every pick, then every drop. A task for several pallets has a pick and
 * a drop for each; which of them are done is in its legs.
 */
import type { Stream, Task } from "./model";

export interface Stop {
  what: "Pick" | "Drop";
  place: string;
  /** A state the marks know. */
  state: string;
  word: string;
}

type Leg = NonNullable<Task["legs"]>[number];

function legsOf(task: Task): readonly Leg[] {
  if (task.legs) return task.legs;
  const isOver = task.status === "completed";
  const state = isOver || task.step === "done" ? "dropped" : task.step === "drop" ? "carried" : "waiting";
  return [{ sourceId: task.sourceId, targetId: task.targetId, state }];
}

export function stopsOf(task: Task): Stop[] {
  const legs = legsOf(task);
  const stop = (what: Stop["what"], place: string, leg: Leg, isDone: boolean): Stop => {
    if (isDone) return { what, place, state: "done", word: "Done" };
    if (task.endedTsMs) return { what, place, state: "skipped", word: "Not done" };
    const isNow = task.step === what.toLowerCase() && leg.sourceId === task.sourceId && Boolean(task.robotId);
    if (!isNow) return { what, place, state: "pending", word: "To come" };
    return task.status === "active"
      ? { what, place, state: "running", word: "Now" }
      : { what, place, state: task.status ?? "held", word: "Held here" };
  };
  return [
    ...legs.map((leg) => stop("Pick", leg.sourceId, leg, leg.state !== "waiting")),
    ...legs.map((leg) => stop("Drop", leg.targetId, leg, leg.state === "dropped")),
  ];
}

/** How far a task is, from 0 to 1. */
export function shareDone(task: Task): number {
  const stops = stopsOf(task);
  return stops.filter((stop) => stop.state === "done").length / stops.length;
}

/** Which way of a shuttle's round a task is; null for tasks of other streams. */
export function wayOfRound(task: Task, stream: Stream | undefined): "There" | "Back" | null {
  if (stream?.kind !== "shuttle") return null;
  const ends = (stream.params as { pickGroup?: readonly string[] } | undefined)?.pickGroup ?? [];
  return ends.includes(task.sourceId) ? "There" : "Back";
}
