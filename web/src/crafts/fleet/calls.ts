/** What people may ask of robots, tasks, worksites and fleets. */
import { type Schemas, write } from "@/api/client";

export const ROBOT_VERBS = ["hold", "release", "park", "charge", "out-of-service", "in-service", "unloaded"] as const;
export type RobotVerb = (typeof ROBOT_VERBS)[number];
export const TASK_VERBS = ["resume", "redo", "done-by-hand", "hand-back", "cancel", "abort"] as const;
export type TaskVerb = (typeof TASK_VERBS)[number];

export function askRobot(scene: string, robotId: string, verb: RobotVerb): Promise<unknown> {
  return write("post", `/api/v1/robots/{robot_id}/${verb}`, { path: { robot_id: robotId }, query: { scene } });
}

export function setLoad(scene: string, robotId: string, loadState: "empty" | "loaded"): Promise<unknown> {
  const body = { loadState };
  return write("post", "/api/v1/robots/{robot_id}/set-load", { path: { robot_id: robotId }, query: { scene }, body });
}

export function askTask(scene: string, taskId: string, verb: TaskVerb, value?: string): Promise<unknown> {
  const body = value === undefined ? {} : { value };
  return write("post", `/api/v1/tasks/{task_id}/${verb}`, { path: { task_id: taskId }, query: { scene }, body });
}

export function askFleet(scene: string, verb: "hold" | "clear"): Promise<unknown> {
  return write("post", `/api/v1/fleet/{scene}/${verb}`, { path: { scene } });
}

/** Everything that Hold all holds goes on. */
export const clearAll = (): Promise<unknown> => write("post", "/api/v1/clear");

export function setStream(scene: string, streamId: string, set: { enabled: boolean }): Promise<unknown> {
  return write("patch", "/api/v1/streams/{stream_id}", { path: { stream_id: streamId }, query: { scene }, body: set });
}

const SITE = "/api/v1/worksites/{worksite_id}";

export function setOccupancy(scene: string, worksiteId: string, occupancy: string): Promise<unknown> {
  return write("patch", SITE, { path: { worksite_id: worksiteId }, query: { scene }, body: { occupancy } });
}

/** Whom that would affect; nothing changes. */
export function tryOccupancy(
  scene: string,
  worksiteId: string,
  occupancy: string,
): Promise<Schemas["WorksiteTrialShape"]> {
  const given = { path: { worksite_id: worksiteId }, query: { scene }, body: { occupancy } };
  return write("post", `${SITE}/dry-run`, given) as Promise<Schemas["WorksiteTrialShape"]>;
}

export function injectFault(scene: string, robotId: string, body: Record<string, unknown>): Promise<unknown> {
  return write("post", "/api/v1/robots/{robot_id}/faults", { path: { robot_id: robotId }, query: { scene }, body });
}
