/** Fleets: the floor with its robots, worksites and tasks. */
import { lazy } from "react";
import { byField, bySceneAnd, replaced, replacedUntil } from "@/live/rows";
import type { ListRule, Row, Snapshot } from "@/live/store";
import { look } from "@/parts/StateMark";
import type { CraftPart, Palette } from "../craft";
import type { Task } from "./model";
import { pastTasks } from "./past/tasks";
import { shareDone } from "./stops";

const OVER = new Set(["completed", "failed", "canceled"]);
const scene = (about: Readonly<Record<string, unknown>>) =>
  about.scene ? `&scene=${encodeURIComponent(String(about.scene))}` : "";

type Change = ListRule["kinds"][string];
const COUNTS: Readonly<Record<string, string>> = {
  completed: "tasksCompleted",
  failed: "tasksFailed",
  canceled: "tasksCanceled",
};

/** A task that has just ended counts. */
const counted: Change = (before, { data }) => {
  const count = COUNTS[String(data.status)];
  if (before === undefined || count === undefined || data.endedTsMs !== data.updatedTsMs) return undefined;
  return { ...before, [count]: Number(before[count]) + 1 };
};

const held: Change = (before, { kind, data }) =>
  before && {
    ...before,
    held: kind === "fleetHeld",
    person: data.person ?? false,
    heldTasks: data.tasks ?? [],
    heldRobots: data.robots ?? [],
  };

/** Each list with what knows a row of it, where all of it is shown, and what that is. */
const THINGS = [
  ["robots", "robotId", "/floor", "Every robot"],
  ["tasks", "taskId", "/history?what=tasks", "Every transport"],
  ["worksites", "worksiteId", "/floor", "Every worksite and what lies there"],
  ["streams", "streamId", "/scenes", "Every stream"],
] as const;

/** What can be asked of a fleet, and whether that is done on its floor. */
const FLEET_COMMANDS = [
  ["hold", "Hold the fleet, on its floor", true],
  ["clear", "Let a held fleet go on, on its floor", true],
  ["why", "Why things stand still, under Stuck", false],
] as const;

function palette(snapshot: Snapshot): Palette[] {
  const fleets = [...(snapshot.lists.fleets?.values() ?? [])].flatMap((row) =>
    FLEET_COMMANDS.map(([name, says, onFloor]) => ({
      name: `fleet ${name} ${row.scene}`,
      says,
      to: onFloor ? `/floor?scene=${encodeURIComponent(String(row.scene))}` : "/",
    })),
  );
  const things = THINGS.flatMap(([list, field, all, says]) => [
    { name: `${list} list`, says, to: all },
    ...[...(snapshot.lists[list]?.values() ?? [])].map((row) => ({
      name: `${list} show ${row[field]}`,
      says: String(row.says ?? row.occupancy ?? row.scene),
      to: fleet.ways?.[field]?.(String(row[field]), row) ?? "/floor",
    })),
  ]);
  return snapshot.lists.fleets?.size ? [...fleets, ...things] : [];
}

function questions(snapshot: Snapshot): string[] {
  const first = (list: string, field: string) => {
    const row = [...(snapshot.lists[list]?.values() ?? [])][0];
    return row === undefined ? undefined : String(row[field]);
  };
  const robot = first("robots", "robotId");
  const site = first("worksites", "worksiteId");
  return [
    ...(robot ? ["tasks per robot today", `how many tasks of ${robot} today?`, "list failed tasks today"] : []),
    ...(site ? [`how many picks at ${site} today?`, "average duration of tasks per stream today"] : []),
  ];
}

export const fleet: CraftPart = {
  name: "fleet",
  sceneKind: "fleet",
  example: "send RB-01 to charge",
  questions,
  looks: {
    moving_to_pick: look("busy", "half", "Driving to pick"),
    moving_to_drop: look("busy", "half", "Driving to drop"),
    picking: look("busy", "dot", "Picking"),
    dropping: look("busy", "dot", "Dropping"),
    parking: look("quiet", "half", "Parking"),
    parked: look("quiet", "square", "Parked"),
    out_of_service: look("quiet", "slash", "Out of service"),
    charging: look("good", "half", "Charging"),
  },
  rules: [
    { list: "robots", key: bySceneAnd("robotId"), kinds: { robotUpdated: replaced("x", "y", "nodeId", "battery") } },
    { list: "worksites", key: bySceneAnd("worksiteId"), kinds: { worksiteUpdated: replaced() } },
    { list: "streams", key: bySceneAnd("streamId"), kinds: { streamUpdated: replaced() } },
    {
      list: "tasks",
      key: byField("taskId"),
      kinds: { taskCreated: replaced(), taskUpdated: replacedUntil((row: Row) => OVER.has(String(row.status))) },
    },
    {
      list: "fleets",
      key: byField("scene"),
      kinds: { taskUpdated: counted, fleetHeld: held, fleetCleared: held },
    },
  ],
  palette,
  sceneMap: lazy(() => import("./SceneMap")),
  faults: lazy(() => import("./FleetFaults")),
  quiet: ["commandSent", "palletPicked", "palletDropped"],
  ways: {
    robotId: (id, about) => `/floor?robot=${encodeURIComponent(id)}${scene(about)}`,
    worksiteId: (id, about) => `/floor?worksite=${encodeURIComponent(id)}${scene(about)}`,
    taskId: (id, about) => `/floor?task=${encodeURIComponent(id)}${scene(about)}`,
    streamId: (id, about) => `/scenes?stream=${encodeURIComponent(id)}${scene(about)}`,
  },
  screens: [
    {
      path: "/floor",
      title: "Floor",
      view: lazy(() => import("./Floor")),
      rail: { icon: "floor", key: "f", order: 40, says: "The fleet's map" },
    },
  ],
  going: (snapshot) =>
    [...(snapshot.lists.tasks?.values() ?? [])].map((task) => ({
      key: `task-${task.taskId}`,
      state: String(task.status === "active" ? task.phase : task.status),
      says: String(task.says),
      to: `/floor?task=${encodeURIComponent(String(task.taskId))}`,
      progress: shareDone(task as unknown as Task),
      since: Number(task.createdTsMs),
    })),
  stuck: lazy(() => import("./Stuck")),
  sceneParts: lazy(() => import("./streams/Streams")),
  sceneFiles: lazy(() => import("./files/Files")),
  pastMap: lazy(() => import("./past/PastMap")),
  past: [pastTasks],
  holds: ["fleetHeld", "fleetCleared"],
};
