/** One step of the plan: its call beside its words, what it would do, and everything that can be done with it. */
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { Drawer } from "@/frame/Drawer";
import { useWhyNot } from "@/live/hooks";
import { Diff } from "@/parts/Diff";
import { State } from "@/parts/StateMark";
import { StepCall } from "@/parts/steps/StepCall";
import { goalOf, needsOf, type Step, span } from "@/parts/steps/steps";
import { useTools } from "@/parts/steps/tools";
import { EditStage, EditTold } from "./EditTold";
import { StepForm } from "./StepForm";
import type { Edit, Editing } from "./useEditing";
import type { PlanDoc, Review } from "./usePlan";

type Line = Schemas["TimelineShape"];

export function StepDrawer(props: {
  plan: PlanDoc;
  step: Step;
  review: Review | undefined;
  line: Line | undefined;
  editing: Editing;
  read: (version: number) => void;
  onChoose: (id: string | null) => void;
}) {
  const { plan, step, review, line, editing, onChoose } = props;
  const [form, setForm] = useState<string | null>(null);
  const tool = useTools().find((one) => one.name === step.tool);
  const risks = review?.risks.filter((risk) => risk.steps.includes(step.id)) ?? [];
  const key = `${step.id} ${plan.version}`;
  const told = <EditTold plan={plan} editing={editing} read={props.read} />;
  return (
    <Drawer
      title={
        <>
          {step.order}. {step.id} {step.status === "skipped" && <State state="skipped" />}
        </>
      }
      onClose={() => onChoose(null)}
    >
      {form === key ? (
        <StepForm key={key} step={step} tool={tool} editing={editing} told={told} onDone={() => setForm(null)} />
      ) : (
        <>
          {told}
          <StepCall step={step} mismatch={risks.find((risk) => risk.kind === "mismatch")?.says} />
          <Acts plan={plan} step={step} editing={editing} onEdit={() => setForm(key)} />
          <EditStage editing={editing} />
          {line && <WouldDo line={line} />}
          <Facts plan={plan} step={step} effect={tool?.effect} onChoose={onChoose} />
        </>
      )}
    </Drawer>
  );
}

function Acts({ plan, step, editing, onEdit }: { plan: PlanDoc; step: Step; editing: Editing; onEdit: () => void }) {
  const notAllowed = useWhyNot();
  const at = plan.steps.findIndex((one) => one.id === step.id);
  const before = plan.steps[at - 1];
  const after = plan.steps[at + 1];
  const skipped = step.status === "skipped";
  const acts: { label: string; edit?: Edit; does?: () => void; whyNot?: string; tone?: string }[] = [
    { label: "Edit", does: onEdit },
    { label: skipped ? "Unskip" : "Skip", edit: { op: skipped ? "unskip" : "skip", id: step.id } },
    {
      label: "Move up",
      edit: before && { op: "move", id: step.id, before: before.id },
      whyNot: before ? undefined : "It is the first step.",
    },
    {
      label: "Move down",
      edit: after && { op: "move", id: step.id, after: after.id },
      whyNot: after ? undefined : "It is the last step.",
    },
    { label: "Remove", edit: { op: "remove", id: step.id }, tone: "danger" },
  ];
  return (
    <div className="row">
      {acts.map(({ label, edit, does, whyNot, tone }) => {
        const why = notAllowed ?? whyNot ?? null;
        return (
          <button
            key={label}
            type="button"
            className={`button small ${tone ?? ""}`}
            aria-disabled={why !== null}
            title={why ?? undefined}
            onClick={() => {
              if (why !== null) return;
              if (edit) void editing.send([edit]);
              else does?.();
            }}
          >
            {label}
          </button>
        );
      })}
    </div>
  );
}

function WouldDo({ line }: { line: Line }) {
  return (
    <section className="stack">
      <h3>What it would do</h3>
      {line.says && <p>{line.says}</p>}
      <p className="soft small">
        From {span(line.startS)} to {span(line.endS)}
      </p>
      {line.diff && <Diff text={line.diff} />}
    </section>
  );
}

function Facts({
  plan,
  step,
  effect,
  onChoose,
}: {
  plan: PlanDoc;
  step: Step;
  effect: string | undefined;
  onChoose: (id: string) => void;
}) {
  const known = new Set(plan.steps.map((one) => one.id));
  const needs = needsOf(step, known);
  const followers = plan.steps.filter((one) => needsOf(one, known).includes(step.id)).map((one) => one.id);
  const goal = goalOf(step);
  return (
    <dl className="plan-facts-list">
      <Names label="Waits for" names={needs} onChoose={onChoose} />
      <Names label="Needed by" names={followers} onChoose={onChoose} />
      {goal && <Fact label="Serves" value={goal.says} />}
      {effect && <Fact label="Effect" value={effect} />}
      {step.when && <Fact label="Only when" value={step.when} />}
      {step.onFailure && <Fact label="When it fails" value={step.onFailure} />}
      {step.retries != null && <Fact label="Retries" value={String(step.retries)} />}
      {step.timeoutS != null && <Fact label="Time limit" value={span(step.timeoutS)} />}
    </dl>
  );
}

function Fact({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <dt className="soft">{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}

const MOST = 12;

function Names({
  label,
  names,
  onChoose,
}: {
  label: string;
  names: readonly string[];
  onChoose: (id: string) => void;
}) {
  return (
    <div>
      <dt className="soft">{label}</dt>
      <dd className="row">
        {names.length === 0 && <span className="soft">nothing</span>}
        {names.slice(0, MOST).map((name) => (
          <button key={name} type="button" className="plan-link" onClick={() => onChoose(name)}>
            {name}
          </button>
        ))}
        {names.length > MOST && <span className="soft">and {names.length - MOST} more</span>}
      </dd>
    </div>
  );
}
