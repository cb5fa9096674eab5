/** A dry run: what the stream would do at the next tick with these settings. Nothing changes by it. */
import { useId, useState } from "react";
import { CommandButton } from "@/parts/Command";
import { Id } from "@/parts/Ids";
import { ReasonLine } from "@/parts/Told";
import { type Stream, type Trial, tryOut } from "./stream";

export function DryRun({ stream }: { stream: Stream }) {
  const [enabled, setEnabled] = useState(true);
  const [priority, setPriority] = useState(String(stream.priority));
  const [trial, setTrial] = useState<Trial | null>(null);
  const id = useId();
  const number = Number(priority);
  return (
    <section className="stack" aria-labelledby={id}>
      <h3 id={id}>Dry run</h3>
      <p className="soft small">What it would start at the next tick. Nothing changes by asking.</p>
      <div className="row">
        <label className="row">
          <input type="checkbox" checked={enabled} onChange={(event) => setEnabled(event.target.checked)} /> Enabled
        </label>
        <label className="row">
          With priority
          <input
            className="input streams-number"
            type="number"
            step="any"
            value={priority}
            onChange={(event) => setPriority(event.target.value)}
          />
        </label>
      </div>
      <CommandButton
        label="Dry run"
        needs="viewer"
        whyNot={priority.trim() === "" || !Number.isFinite(number) ? "A priority is a number." : null}
        call={() => tryOut(stream, { enabled, priority: number })}
        done={trial !== null}
        after={setTrial}
      />
      {trial && <Outcome trial={trial} stream={stream} />}
    </section>
  );
}

function Outcome({ trial, stream }: { trial: Trial; stream: Stream }) {
  return (
    <div className="told" role="status">
      <div className="stack">
        <p>
          It would start{" "}
          {trial.tasks.length === 0 ? "no task" : trial.tasks.length === 1 ? "one task" : `${trial.tasks.length} tasks`}
          .
        </p>
        <ul className="stack">
          {trial.tasks.map((task) => (
            <li key={task.taskId} className="row small">
              {task.robotId && <Id field="robotId" id={task.robotId} about={stream} />}
              <Id field="worksiteId" id={task.sourceId} about={stream} /> to{" "}
              <Id field="worksiteId" id={task.targetId} about={stream} />
            </li>
          ))}
        </ul>
        {trial.reasons.map((reason, index) => (
          <ReasonLine key={index} reason={reason} />
        ))}
      </div>
    </div>
  );
}
