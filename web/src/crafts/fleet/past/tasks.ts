/** The tasks of the past. */
import { get, type Schemas } from "@/api/client";
import type { Past, PastList } from "../../craft";

const OVER = new Set(["completed", "failed", "canceled"]);

function pastOf(task: Schemas["TaskShape"]): Past {
  const status = task.status ?? "created";
  return {
    key: `${task.scene}/${task.taskId}`,
    to: `/floor?task=${encodeURIComponent(task.taskId)}&scene=${encodeURIComponent(task.scene)}`,
    name: task.taskId,
    says: task.says,
    state: status,
    at: task.createdTsMs ?? 0,
    endedAt: task.endedTsMs,
    scene: task.scene,
    by: task.robotId,
    why: task.error,
    note: task.byHand ? "by hand" : null,
    over: OVER.has(status),
    row: task,
  };
}

export const pastTasks: PastList = {
  what: "tasks",
  title: "Tasks",
  none: { says: "No fleet has had a task yet. Streams make them.", button: "See the streams", to: "/scenes" },
  read: async (limit, signal) => (await get("/api/v1/tasks", { query: { limit }, signal })).map(pastOf),
  concerns: (kind) => kind === "taskCreated" || kind === "taskUpdated",
};
