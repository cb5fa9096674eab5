/** What can be done with the run as a whole; what cannot be done now says why. */
import { write } from "@/api/client";
import { Link } from "@/frame/router";
import { CommandButton } from "@/parts/Command";
import { type RunDoc, useLatestVersion } from "./useRun";

export const ENDED = new Set(["completed", "partial", "failed", "cancelled"]);

export function Commands({ run }: { run: RunDoc }) {
  const ended = ENDED.has(run.status);
  const over = ended ? `The run has ended: ${run.status}.` : run.cancelling ? "It is being cancelled." : null;
  const path = { run_id: run.runId };
  const inFlight = run.steps.some((step) => step.status === "running");
  const canRelease = run.paused || run.status === "waiting";
  return (
    <div className="row run-commands">
      {run.paused ? (
        <CommandButton
          key="resume"
          label="Resume"
          tone="first"
          whyNot={over}
          call={() => write("post", "/api/v1/runs/{run_id}/resume", { path })}
        />
      ) : (
        <CommandButton
          key="pause"
          label="Pause"
          whyNot={over}
          describe="Start nothing new; what is in flight goes on."
          call={() => write("post", "/api/v1/runs/{run_id}/pause", { path })}
        />
      )}
      <CommandButton
        label="Stop after this step"
        whyNot={over ?? (run.paused ? "It is paused already." : null)}
        describe="Pause when what is in flight has ended."
        done={run.paused === true}
        call={() => write("post", "/api/v1/runs/{run_id}/stop-after-step", { path })}
      />
      {(run.machines?.length ?? 0) > 0 && (
        <CommandButton
          label="Release its machines"
          whyNot={
            over ?? (inFlight || !canRelease ? "Only while the run is paused or waits and nothing is in flight." : null)
          }
          describe={`Give back ${run.machines?.join(", ")}.`}
          call={() => write("post", "/api/v1/runs/{run_id}/release", { path })}
        />
      )}
      <CommandButton
        label="Cancel"
        tone="danger"
        whyNot={over}
        done={run.status === "cancelled"}
        confirm={{
          title: "Cancel this run",
          says: "What runs is stopped, and what has not begun is not done.",
          yes: "Cancel the run",
        }}
        call={() => write("post", "/api/v1/runs/{run_id}/cancel", { path, patienceMs: 6_000 })}
      />
      <span className="spread" />
      <Adopt run={run} ended={ended} />
    </div>
  );
}

function Adopt({ run, ended }: { run: RunDoc; ended: boolean }) {
  const latest = useLatestVersion(run.planId) ?? run.version;
  const plan = `/plans/${encodeURIComponent(run.planId)}`;
  if (latest <= run.version || ended) {
    return (
      <Link className="button ghost" to={`${plan}?version=${run.version}`}>
        Its plan, version {run.version}
      </Link>
    );
  }
  return (
    <span className="row">
      <Link className="button ghost" to={`${plan}?version=${latest}&view=versions&from=${run.version}&to=${latest}`}>
        What version {latest} changes
      </Link>
      <CommandButton
        label={`Go on with version ${latest}`}
        call={() =>
          write("post", "/api/v1/runs/{run_id}/adopt", { path: { run_id: run.runId }, body: { version: latest } })
        }
      />
    </span>
  );
}
