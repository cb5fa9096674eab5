/** What is read and what can be done with it. Start is pinned to the version being read: with a newer one about, it
 *  says so and does nothing. */
import { write } from "@/api/client";
import { go, Link } from "@/frame/router";
import { CommandButton } from "@/parts/Command";
import { Id } from "@/parts/Ids";
import { State } from "@/parts/StateMark";
import { span } from "@/parts/steps/steps";
import { Time } from "@/parts/time";
import { CancelPlan } from "./CancelPlan";
import { Regenerate } from "./Regenerate";
import type { PlanDoc, Reading, Review } from "./usePlan";

export function Head({ plan, reading, durationS }: { plan: PlanDoc; reading: Reading; durationS: number }) {
  const { review } = reading;
  return (
    <header className="plan-head">
      <div className="row">
        <h1 className="spread">{plan.name || plan.description || plan.id}</h1>
        <Standing review={review} />
      </div>
      {plan.name && plan.description && <p className="soft">{plan.description}</p>}
      <p className="row soft small plan-facts">
        <span>
          Version {plan.version} of <Id field="planId" id={plan.id} />
        </span>
        <span>
          {plan.steps.length} {plan.steps.length === 1 ? "step" : "steps"}
        </span>
        {durationS > 0 && <span>about {span(durationS)}</span>}
        {plan.scene && (
          <span>
            in <Id field="sceneId" id={plan.scene} />
          </span>
        )}
        {plan.workspace && (
          <span>
            in <code>{plan.workspace}</code>
          </span>
        )}
        <span>
          made <Time at={plan.createdAt} />
        </span>
      </p>
    </header>
  );
}

function Standing({ review }: { review: Review | undefined }) {
  const decision = review?.decision;
  if (!decision) return null;
  if (decision.status === "open") return <State state="waiting" word="Waits for review" />;
  if (decision.answer?.verb === "cancel") return <State state="cancelled" />;
  if (decision.status === "withdrawn") return <State state="skipped" word="Replaced" />;
  return <State state="active" word="Started" />;
}

export function Actions({ plan, reading, busy }: { plan: PlanDoc; reading: Reading; busy: boolean }) {
  const { review, latest, read, take } = reading;
  const newer = latest > plan.version && !busy;
  const decision = review?.decision;
  const open = decision?.status === "open";
  const refused = review?.version === plan.version ? review.whyNot[0]?.says : undefined;
  const adopts = open && decision.verbs.includes("adopt");
  const run = review?.runs[0];
  const whyNot = newer
    ? `Version ${latest} was made since. You read version ${plan.version}: nothing starts.`
    : busy
      ? "An edit is being kept: what it makes can be started then."
      : (refused ?? null);
  return (
    <div className="plan-actions">
      {newer && (
        <p className="told wait plan-newer" role="alert">
          <span className="spread">
            Version {latest} was made since; you read version {plan.version}.
          </span>
          <Link
            className="button small"
            to={`/plans/${encodeURIComponent(plan.id)}?version=${plan.version}&view=versions&from=${plan.version}&to=${latest}`}
          >
            What changed
          </Link>
          <button type="button" className="button small" onClick={() => read(latest)}>
            Read version {latest}
          </button>
        </p>
      )}
      <div className="row">
        {adopts && run ? (
          <CommandButton
            label={`Adopt version ${plan.version} in the run`}
            tone="first"
            whyNot={newer || busy ? whyNot : null}
            describe={decision.effects.adopt}
            call={() =>
              write("post", "/api/v1/inbox/{decision_id}", {
                path: { decision_id: decision.id },
                body: { verb: "adopt" },
              })
            }
            after={() => go(`/runs/${encodeURIComponent(run.runId)}`)}
          />
        ) : (
          <CommandButton
            label={newer ? `Version ${latest} is newer` : `Start version ${plan.version}`}
            tone="first"
            whyNot={whyNot}
            describe={decision?.effects.start}
            call={() =>
              write("post", "/api/v1/plans/{plan_id}/runs", {
                path: { plan_id: plan.id },
                body: { version: plan.version },
              })
            }
            after={(made) => go(`/runs/${encodeURIComponent(made.runId)}`)}
          />
        )}
        <Regenerate plan={plan} take={take} />
        {open && <CancelPlan decision={decision} />}
        <span className="spread" />
        {run && (
          <Link className="button ghost" to={`/runs/${encodeURIComponent(run.runId)}`}>
            Go to its run <State state={run.status} />
          </Link>
        )}
      </div>
      {!newer && refused && !adopts && <p className="soft small">{refused}</p>}
    </div>
  );
}
