/** A task with all its verbs: resume, redo, done by hand, hand back, cancel, and abort to another place. */
import { useState } from "react";
import { goWith } from "@/frame/router";
import { useWhyNot } from "@/live/hooks";
import { CommandButton } from "@/parts/Command";
import { Dialog } from "@/parts/Dialog";
import { Id } from "@/parts/Ids";
import { State } from "@/parts/StateMark";
import { Ago } from "@/parts/time";
import { askTask, type TaskVerb } from "./calls";
import type { Robot, Task } from "./model";
import { Stops } from "./Stops";

export function TaskPart({ task, robot, heading }: { task: Task; robot: Robot | undefined; heading: boolean }) {
  return (
    <section className="stack floor-task" aria-label={`Task ${task.taskId}`} data-task={task.taskId}>
      {heading && (
        <h3 className="row">
          Task <Id field="taskId" id={task.taskId} about={task} />
        </h3>
      )}
      <TaskFacts task={task} heading={heading} />
      <Stops task={task} />
      {task.endedTsMs ? null : <TaskVerbs task={task} robot={robot} />}
    </section>
  );
}

const shownState = (task: Task): string => (task.status === "active" ? (task.phase ?? "active") : (task.status ?? ""));

function TaskFacts({ task, heading }: { task: Task; heading: boolean }) {
  return (
    <>
      <p>
        <State state={shownState(task)} /> <span className="soft">{task.says}</span>
      </p>
      {task.error && !task.says?.includes(task.error) && <p>{task.error}</p>}
      <dl className="floor-facts">
        <dt>From</dt>
        <dd>
          <Id field="worksiteId" id={task.sourceId} about={task} />
        </dd>
        <dt>To</dt>
        <dd>
          <Id field="worksiteId" id={task.targetId} about={task} />
          {task.nextTargetId && (
            <>
              {" → "}
              <Id field="worksiteId" id={task.nextTargetId} about={task} />
            </>
          )}
        </dd>
        {!heading && task.robotId && (
          <>
            <dt>Robot</dt>
            <dd>
              <Id field="robotId" id={task.robotId} about={task} />
            </dd>
          </>
        )}
        {task.streamId && (
          <>
            <dt>Stream</dt>
            <dd>
              <Id field="streamId" id={task.streamId} about={task} />
            </dd>
          </>
        )}
        <dt>Made</dt>
        <dd>
          <Ago at={task.createdTsMs ?? 0} />
        </dd>
        {task.endedTsMs ? (
          <>
            <dt>Ended</dt>
            <dd>
              <Ago at={task.endedTsMs} />
            </dd>
          </>
        ) : null}
      </dl>
    </>
  );
}

const HELD = new Set(["held", "stale"]);

/** Why a verb would do nothing now. What else stands against it the server says. */
function whyNot(verb: TaskVerb, task: Task, isLoaded: boolean): string | null {
  if (verb === "resume" && !HELD.has(task.status ?? "")) return "It is not held.";
  if ((verb === "redo" || verb === "done-by-hand") && !task.robotId) return "It has no robot yet.";
  if (verb === "hand-back" && !task.robotId) return "It has no robot.";
  if ((verb === "cancel" || verb === "hand-back") && isLoaded) return "The pallet is on the fork; abort it instead.";
  return null;
}

function TaskVerbs({ task, robot }: { task: Task; robot: Robot | undefined }) {
  const isLoaded = task.step === "drop" && robot?.loadState !== "empty";
  const ask = (verb: TaskVerb, value?: string) => askTask(task.scene, task.taskId, verb, value);
  const plain = (verb: TaskVerb, label: string, done: boolean, describe: string) => (
    <CommandButton
      small
      label={label}
      describe={describe}
      whyNot={whyNot(verb, task, isLoaded)}
      call={() => ask(verb)}
      done={done}
    />
  );
  const step = task.step === "pick" ? "pick" : "drop";
  return (
    <fieldset className="row floor-verbs" aria-label="What to do with the task">
      {plain("resume", "Resume", task.status === "active", "Go on with a held task")}
      {plain("redo", "Redo", false, "Do the present step again")}
      <CommandButton
        small
        label="Done by hand"
        describe="A person did the present step"
        whyNot={whyNot("done-by-hand", task, isLoaded)}
        call={() => ask("done-by-hand", step)}
        confirm={{
          title: `Is the ${step} done?`,
          says: (
            <p>
              The {step} of {task.taskId} at {step === "pick" ? task.sourceId : task.targetId} is booked as done by
              hand.
            </p>
          ),
          yes: `The ${step} is done`,
        }}
      />
      {plain("hand-back", "Hand back", !task.robotId, "Take it from its robot; another one gets it")}
      {plain("cancel", "Cancel", false, "End it before the pallet is on the fork")}
      <Abort task={task} isLoaded={isLoaded} />
    </fieldset>
  );
}

function Abort({ task, isLoaded }: { task: Task; isLoaded: boolean }) {
  const [asking, setAsking] = useState(false);
  const notAllowed = useWhyNot();
  if (!isLoaded)
    return (
      <CommandButton
        small
        tone="danger"
        label="Abort"
        call={() => askTask(task.scene, task.taskId, "abort")}
        confirm={{ title: `Abort ${task.taskId}?`, says: <p>It ends as failed.</p>, yes: "Abort it" }}
      />
    );
  return (
    <>
      <button
        type="button"
        className="button small danger"
        aria-disabled={notAllowed !== null}
        title={notAllowed ?? undefined}
        onClick={() => notAllowed === null && setAsking(true)}
      >
        Abort …
      </button>
      {asking && (
        <Dialog title={`Abort ${task.taskId}?`} onClose={() => setAsking(false)}>
          <p>{task.robotId} carries its pallet. Where should it go?</p>
          <div className="stack">
            <button
              type="button"
              className="button first"
              onClick={() => {
                setAsking(false);
                goWith({ choose: task.taskId, scene: task.scene }, { replace: false });
              }}
            >
              Choose another place on the map
            </button>
            <CommandButton
              tone="danger"
              label="Abort: the pallet stays on the fork"
              call={() => askTask(task.scene, task.taskId, "abort")}
              after={() => setAsking(false)}
            />
            <button type="button" className="button ghost" onClick={() => setAsking(false)}>
              Back
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
