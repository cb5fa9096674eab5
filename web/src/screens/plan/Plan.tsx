/** Plan review: what would really happen, and may I change it. */
import { lazy, Suspense, useCallback, useState } from "react";
import { ask } from "@/api/client";
import { goWith, Link, useQuery } from "@/frame/router";
import { useFetched, useWhyNot } from "@/live/hooks";
import { Tabs } from "@/parts/steps/Tabs";
import { Empty, Loading, Refused } from "@/parts/Told";
import { AddStep } from "./AddStep";
import { EditStage, EditTold } from "./EditTold";
import { Actions, Head } from "./Head";
import { Origin } from "./Origin";
import "./plan.css";
import { Preview } from "./Preview";
import { Regenerate } from "./Regenerate";
import { RiskSummary, useRisksByStep, WhyNotStart } from "./Risks";
import { StepDrawer } from "./StepDrawer";
import { StepList } from "./StepList";
import { useEditing } from "./useEditing";
import { type PlanDoc, type Reading, usePlan } from "./usePlan";
import { Versions } from "./Versions";

const Graph = lazy(() => import("@/parts/steps/Graph").then(({ Graph }) => ({ default: Graph })));

export default function PlanScreen({ named }: { named: Record<string, string> }) {
  const reading = usePlan(named.id ?? "");
  if (reading.plan) return <Shown key={reading.plan.id} plan={reading.plan} reading={reading} />;
  if (reading.refusal) {
    return (
      <>
        <h1>Plan</h1>
        <Refused refusal={reading.refusal} />
        <Empty title="There is no such plan to review.">
          <Link className="button" to="/new">
            Make a plan
          </Link>
        </Empty>
      </>
    );
  }
  return <Loading what="the plan" />;
}

const NARROW = window.matchMedia("(max-width: 860px)");
const VIEWS: [string, string][] = [
  ["steps", "Steps"],
  ["graph", "Graph"],
  ["versions", "Versions"],
  ["origin", "Where it came from"],
];

function Shown({ plan, reading }: { plan: PlanDoc; reading: Reading }) {
  const [view] = useQuery("view");
  const [chosen] = useQuery("step");
  const [adding, setAdding] = useState(0);
  const editing = useEditing(plan, reading.take);
  const choose = useCallback((id: string | null) => goWith({ step: id }), []);
  const preview = usePreview(plan);
  const risks = useRisksByStep(reading.review, plan.steps);
  const step = plan.steps.find((one) => one.id === chosen);
  const isAdding = adding === plan.version;
  const shown = view ?? "steps";
  return (
    <div className="plan">
      <Head plan={plan} reading={reading} durationS={durationOf(plan, preview)} />
      <Actions plan={plan} reading={reading} busy={editing.stage === "asked"} />
      <WhyNotStart review={reading.review} regenerate={<Regenerate plan={plan} take={reading.take} small />} />
      <RiskSummary review={reading.review} onChoose={choose} />
      <div className={shown === "graph" ? "plan-columns one" : "plan-columns"}>
        <div className="stack plan-left">
          <div className="row plan-views">
            <Tabs label="Views of the plan" views={VIEWS} shown={shown} onPick={(next) => goWith({ view: next })} />
            <span className="spread" />
            {!step && <EditStage editing={editing} />}
            <AddButton onPress={() => setAdding(plan.version)} />
          </div>
          {!step && !isAdding && <EditTold plan={plan} editing={editing} read={reading.read} />}
          {shown === "steps" && (
            <StepList steps={plan.steps} chosen={chosen} onChoose={choose} editing={editing} risks={risks} />
          )}
          {shown === "graph" && (
            <Suspense fallback={<Loading what="the graph" />}>
              <Graph steps={plan.steps} chosen={chosen} onChoose={choose} down={NARROW.matches} />
            </Suspense>
          )}
          {shown === "versions" && <Versions plan={plan} reading={reading} />}
          {shown === "origin" && <Origin plan={plan} review={reading.review} />}
        </div>
        <Preview plan={plan} preview={preview.value} refusal={preview.refusal} chosen={chosen} onChoose={choose} />
      </div>
      {step && (
        <StepDrawer
          plan={plan}
          step={step}
          review={reading.review}
          line={preview.value?.timeline.find((line) => String(line.stepId) === step.id)}
          editing={editing}
          read={reading.read}
          onChoose={choose}
        />
      )}
      {isAdding && <AddStep plan={plan} editing={editing} read={reading.read} onClose={() => setAdding(0)} />}
    </div>
  );
}

/** As the preview has it, which knows what runs side by side and what arguments say; else as it was estimated. */
function durationOf(plan: PlanDoc, preview: ReturnType<typeof usePreview>): number {
  return preview.value?.durationS ?? ((preview.refusal && plan.estimatedDuration) || 0);
}

function usePreview(plan: PlanDoc) {
  return useFetched(`preview ${plan.id} ${plan.version}`, (signal) =>
    ask("/api/v1/plans/{plan_id}/preview", { path: { plan_id: plan.id }, body: { version: plan.version }, signal }),
  );
}

function AddButton({ onPress }: { onPress: () => void }) {
  const whyNot = useWhyNot();
  return (
    <button
      type="button"
      className="button small"
      aria-disabled={whyNot !== null}
      title={whyNot ?? undefined}
      onClick={() => whyNot === null && onPress()}
    >
      Add a step
    </button>
  );
}
