/** Where a task stops, in order: which picks and drops are done, which is made now, which are to come. */
import { useList } from "@/live/hooks";
import { Id } from "@/parts/Ids";
import { State } from "@/parts/StateMark";
import { keyOf, type Stream, type Task } from "./model";
import { stopsOf, wayOfRound } from "./stops";

export function Stops({ task }: { task: Task }) {
  const stream = useList<Stream>("streams").get(keyOf(task.scene, task.streamId ?? ""));
  const way = wayOfRound(task, stream);
  return (
    <div className="stack">
      <ol className="floor-stops" aria-label={`Stops of ${task.taskId}`}>
        {stopsOf(task).map((stop) => (
          <li key={`${stop.what} ${stop.place}`} aria-current={stop.state === "running" ? "step" : undefined}>
            <State state={stop.state} word={stop.word} />
            <span>
              {stop.what} at <Id field="worksiteId" id={stop.place} about={task} />
            </span>
          </li>
        ))}
      </ol>
      {way && stream && (
        <p className="soft small" data-round={way}>
          {way === "There" ? "Way there" : "Way back"} of the shuttle{" "}
          <Id field="streamId" id={stream.streamId} about={task} />; ways done: {stream.tasksCompleted ?? 0}
        </p>
      )}
    </div>
  );
}
