/** The details of one task, under way or ended long ago. */
import { get } from "@/api/client";
import { Drawer } from "@/frame/Drawer";
import { useFetched } from "@/live/hooks";
import { Loading, Refused } from "@/parts/Told";
import type { Task } from "./model";
import { TaskPart } from "./TaskPart";
import type { Floor } from "./useFloor";
import { Why } from "./Why";

export function TaskDrawer({ floor, id, onClose }: { floor: Floor; id: string; onClose: () => void }) {
  const open = floor.tasks.get(id);
  const kept = useFetched(
    open ? null : `task ${id}`,
    (signal) => get("/api/v1/tasks/{task_id}", { path: { task_id: id }, query: { scene: floor.scene }, signal }),
    (event) => event.about.taskId === id,
  );
  const task = open ?? (kept.value as Task | undefined);
  const robot = task?.robotId ? floor.robots.find((one) => one.robotId === task.robotId) : undefined;
  return (
    <Drawer title={id} onClose={onClose}>
      {task && <TaskPart task={task} robot={robot} heading={false} />}
      {task === undefined && kept.refusal && <Refused refusal={kept.refusal} />}
      {task === undefined && kept.refusal === null && <Loading what="the task" />}
      {task && !task.endedTsMs && <Why kind="tasks" id={id} scene={floor.scene} />}
    </Drawer>
  );
}
