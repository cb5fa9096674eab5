/** A step of a run in the drawer: how it stands and why, what it gave, what it was called with, what it said. */
import type { ReactNode } from "react";
import { Drawer } from "@/frame/Drawer";
import type { LogEvent } from "@/live/protocol";
import { State } from "@/parts/StateMark";
import { StepCall, Value } from "@/parts/steps/StepCall";
import { type Step, span } from "@/parts/steps/steps";
import { ReasonLine } from "@/parts/Told";
import { Time } from "@/parts/time";
import { StepCommands } from "./StepCommands";
import type { RunDoc } from "./useRun";

export function StepDetails({
  run,
  step,
  planned,
  log,
  onClose,
}: {
  run: RunDoc;
  step: Step;
  planned: Step["args"] | undefined;
  log: readonly LogEvent[];
  onClose: () => void;
}) {
  const mine = log.filter((event) => event.about.stepId === step.id);
  return (
    <Drawer
      title={
        <>
          {step.order}. {step.id}
        </>
      }
      onClose={onClose}
    >
      <p className="row">
        <State state={step.status} />
        {step.stopping && <span className="tone-doubt">told to stop</span>}
        {step.attempt != null && <span className="soft">attempt {step.attempt}</span>}
        {step.retryAt != null && (
          <span className="soft">
            tried again at <Time at={step.retryAt} />
          </span>
        )}
      </p>
      {step.reason && <ReasonLine reason={step.reason} />}
      <StepCommands key={step.id} run={run} step={step} />
      {step.result && (
        <Part title={step.result.ok ? "Result" : "Error"}>
          {step.result.error && <p className="tone-bad">{step.result.error}</p>}
          {step.result.ok && <Value value={step.result.value} />}
          <p className="soft small">
            After {span(step.result.duration / 1_000)}, at <Time at={step.result.timestamp} />
          </p>
        </Part>
      )}
      <StepCall step={step} planned={planned} />
      {(step.logs?.length ?? 0) > 0 && (
        <Part title="What it said">
          <ul className="run-lines">
            {step.logs?.map((line, index) => (
              <li key={index}>
                <Time at={line.ts} /> {line.line}
              </li>
            ))}
          </ul>
        </Part>
      )}
      {mine.length > 0 && (
        <Part title="What happened to it">
          <ul className="run-lines">
            {mine.map((event) => (
              <li key={event.seq}>
                <Time at={event.ts} /> {event.says}
              </li>
            ))}
          </ul>
        </Part>
      )}
    </Drawer>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="stack">
      <h3>{title}</h3>
      {children}
    </section>
  );
}
