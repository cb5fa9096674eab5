/** What can be done with one step of a run: skip, retry as it is or with other arguments, run again from here. */
import { useState } from "react";
import { type Schemas, write } from "@/api/client";
import { useWhyNot } from "@/live/hooks";
import { CommandButton, StageWord, useCommand } from "@/parts/Command";
import { Dialog } from "@/parts/Dialog";
import { SchemaForm } from "@/parts/Form";
import type { Step } from "@/parts/steps/steps";
import { formOf, useTools } from "@/parts/steps/tools";
import { Refused } from "@/parts/Told";
import type { RunDoc } from "./useRun";

const RETRIED = new Set(["failed", "denied", "cancelled"]);
const DONE = new Set(["completed", "skipped"]);
const IN_DOUBT = "Nobody knows yet whether it happened; answer its question first.";
const BUSY = new Set(["running", "inDoubt"]);

export function StepCommands({ run, step }: { run: RunDoc; step: Step }) {
  const path = { run_id: run.runId, step_id: step.id };
  const retry = RETRIED.has(step.status)
    ? null
    : "Only a step that failed, was denied or was cancelled can be retried.";
  const skip = DONE.has(step.status) ? "This step is done already." : step.status === "inDoubt" ? IN_DOUBT : null;
  const rerun = step.parent ? "Run the whole step again, not one of its items." : null;
  return (
    <div className="row">
      <CommandButton
        small
        label="Skip"
        whyNot={skip}
        done={step.status === "skipped"}
        call={() => write("post", "/api/v1/runs/{run_id}/steps/{step_id}/skip", { path })}
      />
      <CommandButton
        small
        label="Retry"
        whyNot={retry}
        call={() => write("post", "/api/v1/runs/{run_id}/steps/{step_id}/retry", { path })}
      />
      <RetryOtherwise run={run} step={step} whyNot={retry} />
      <CommandButton
        small
        label="Run again from here"
        whyNot={rerun ?? (BUSY.has(step.status) ? "It must end first." : null)}
        confirm={{
          title: `Run again from ${step.id}`,
          says: "This step and all that depends on it run once more.",
          yes: "Run again",
        }}
        call={() => write("post", "/api/v1/runs/{run_id}/steps/{step_id}/rerun", { path })}
      />
    </div>
  );
}

function RetryOtherwise({ run, step, whyNot }: { run: RunDoc; step: Step; whyNot: string | null }) {
  const [asking, setAsking] = useState(false);
  const notAllowed = useWhyNot();
  const why = notAllowed ?? whyNot;
  return (
    <>
      <button
        type="button"
        className="button small"
        aria-disabled={why !== null}
        title={why ?? undefined}
        onClick={() => why === null && setAsking(true)}
      >
        Retry with other arguments
      </button>
      {asking && <OtherArguments run={run} step={step} onClose={() => setAsking(false)} />}
    </>
  );
}

function OtherArguments({ run, step, onClose }: { run: RunDoc; step: Step; onClose: () => void }) {
  const tool = useTools().find((one) => one.name === step.tool);
  const [args, setArgs] = useState<Step["args"]>(step.args);
  const command = useCommand<Schemas["RunShape"]>();
  const send = async () => {
    const answer = await command.give(() =>
      write("post", "/api/v1/runs/{run_id}/steps/{step_id}/retry", {
        path: { run_id: run.runId, step_id: step.id },
        body: { args },
      }),
    );
    if (answer !== undefined) onClose();
  };
  return (
    <Dialog title={`Retry ${step.id} with other arguments`} onClose={onClose} wide>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <p>
          <code>{step.tool}</code> <span className="soft">{tool?.description}</span>
        </p>
        <SchemaForm
          schema={formOf(tool, step.args)}
          value={args}
          onChange={(next) => setArgs((next ?? {}) as Step["args"])}
        />
        {command.refusal && <Refused refusal={command.refusal} />}
        <div className="row">
          <button type="submit" className="button first">
            Retry
          </button>
          <button type="button" className="button ghost" onClick={onClose}>
            Back
          </button>
          {command.stage === "asked" && <StageWord stage="asked" />}
        </div>
      </form>
    </Dialog>
  );
}
