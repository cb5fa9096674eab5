/** The fleet's things as the console knows them, and how each looks: a state with its word, colour and shape. */
import type { Schemas } from "@/api/client";
import type { Point } from "@/parts/map/view";

export type Robot = Omit<Schemas["RobotShape"], "errand"> & {
  heading?: number | null;
  nextNodeId?: string | null;
  errand?: { kind?: string; nodeId?: string; state?: string; worksiteId?: string | null } | null;
};
export type Worksite = Schemas["WorksiteShape"];
export type Task = Schemas["TaskShape"] & { says?: string };
export type Fleet = Schemas["FleetShape"];
export type Stream = Schemas["StreamShape"];

export interface FleetDocument {
  name: string;
  nodes: readonly (Point & { id: string })[];
  edges: readonly { from: string; to: string; oneWay?: boolean; lengthM?: number | null }[];
  worksites: readonly { worksiteId: string; worksiteType: string; entryNodeId: string; actionNodeId?: string | null }[];
  robots: readonly { robotId: string; nodeId: string; link?: unknown; widthM?: number }[];
  settings?: { trafficMode?: string };
}

export function documentOf(scene: Schemas["SceneShape"]): FleetDocument {
  const told = scene.document as Partial<FleetDocument>;
  return {
    name: scene.name,
    nodes: told.nodes ?? [],
    edges: told.edges ?? [],
    worksites: told.worksites ?? [],
    robots: told.robots ?? [],
    settings: told.settings,
  };
}

/** The kind of what leads to a robot. */
export function linkOf(document: FleetDocument, robotId: string): string {
  const link = document.robots.find((robot) => robot.robotId === robotId)?.link ?? "sim";
  return typeof link === "object" ? String((link as { kind?: string }).kind) : String(link);
}

export const keyOf = (scene: string, id: string): string => `${scene}/${id}`;

/** What a robot shows as: its phase, unless it is silent or something stands in its way. */
export function stateOf(robot: Robot): string {
  if (robot.status === "offline") return "offline";
  if (robot.status === "blocked" && robot.phase !== "error") return "blocked";
  if (robot.held || robot.paused) return "held";
  if (robot.phase === "idle" && robot.outOfService) return "out_of_service";
  if (robot.phase === "idle" && robot.errand?.kind === "park" && robot.errand.state === "there") return "parked";
  return robot.phase ?? "idle";
}

/** Whether it stands still, whatever its task says. */
const stands = (robot: Robot): boolean => ["offline", "blocked", "held", "error"].includes(stateOf(robot));

/** What it does, in the words the server has for it. */
export function saysOf(robot: Robot, task: Task | undefined): string {
  return (!stands(robot) && task?.says) || robot.says;
}

/** A sentence beside the name it begins with. */
export function withoutName(says: string, name: string): string {
  return says.startsWith(`${name} `) ? says.slice(name.length + 1) : says;
}

/** What physically lies on a worksite, reserved or not. */
export function lies(site: Worksite): string {
  return (site.occupancy === "reserved" ? site.occupancyBefore : site.occupancy) ?? "unknown";
}

export const isService = (site: Pick<Worksite, "worksiteType">): boolean =>
  site.worksiteType === "charger" || site.worksiteType === "park";

export const siteNode = (site: Pick<Worksite, "actionNodeId" | "entryNodeId">): string =>
  site.actionNodeId ?? site.entryNodeId;

export const percent = (share: number | null | undefined): string =>
  share === null || share === undefined ? "unknown" : `${Math.round(share * 100)} %`;

/** The node a robot is on its way to. */
export function targetOf(
  robot: Robot,
  task: Task | undefined,
  site: (id: string) => Worksite | undefined,
): string | undefined {
  if (robot.taskId && task) {
    const place = site(task.step === "pick" ? task.sourceId : task.targetId);
    return place && siteNode(place);
  }
  return robot.errand && robot.errand.state !== "there" ? robot.errand.nodeId : undefined;
}

const ORDER = new Intl.Collator("en", { numeric: true });
export const byName = (one: string, other: string): number => ORDER.compare(one, other);

/** A task's id is its scene's name and its number there. */
export function sceneOfTask(taskId: string | null): string | null {
  return taskId?.match(/^(.+)-t\d+$/)?.[1] ?? null;
}
