/** What a person needs to see to decide: a sentence, the calls, the change as a diff, and everything else by name. */
import { Call } from "@/parts/Call";
import { Diff } from "@/parts/Diff";
import { Mark } from "@/parts/StateMark";
import { type Reason, ReasonLine } from "@/parts/Told";
import { Values } from "@/parts/Values";
import { Difference, isDifference } from "./Difference";
import type { Decision } from "./kinds";

interface Step {
  id: string;
  order?: number;
  tool: string;
  args?: Record<string, unknown>;
  effect?: string;
  destructive?: string;
  description?: string;
  mismatch?: unknown;
}

const SHOWN = 6;

export function Evidence({ decision, whole = false }: { decision: Decision; whole?: boolean }) {
  const {
    says,
    error,
    steps,
    moreSteps,
    diff,
    tool,
    args,
    mismatch,
    proposals,
    question,
    reason,
    code: _code,
    inDoubt: _inDoubt,
    ...named
  } = decision.evidence as Record<string, unknown>;
  const { difference, ...others } = named;
  const left = isDifference(difference) ? others : named;
  const rest = reason === undefined || isReason(reason) ? left : { reason, ...left };
  const told = [says, question, error].filter((text) => text && text !== decision.title);
  return (
    <div className="stack">
      {told.map((text) => (
        <p key={String(text)} className={text === error ? "told bad" : undefined}>
          {text === error && <Mark state="failed" />} {String(text)}
        </p>
      ))}
      {isReason(reason) && <ReasonLine reason={reason} />}
      {typeof tool === "string" && <Call tool={tool} args={withoutContent(args, diff)} mismatch={mismatch} whole />}
      {typeof diff === "string" && diff !== "" && <Diff text={diff} />}
      {Array.isArray(steps) && <Steps steps={steps as Step[]} more={Number(moreSteps ?? 0)} whole={whole} />}
      {Array.isArray(proposals) && proposals.length > 0 && (
        <Proposals proposals={proposals as Record<string, unknown>[]} />
      )}
      {isDifference(difference) && <Difference of={difference} />}
      <Values of={typeof diff === "string" && diff !== "" ? withoutSizes(rest) : rest} />
    </div>
  );
}

function isReason(value: unknown): value is Reason {
  return typeof value === "object" && value !== null && typeof (value as Reason).says === "string";
}

/** A write's content is what the diff shows. */
function withoutContent(args: unknown, diff: unknown): Record<string, unknown> {
  const all = { ...(args as Record<string, unknown>) };
  if (typeof diff === "string" && diff !== "") delete all.content;
  return all;
}

/** What a diff shows by itself. */
function withoutSizes({ path: _path, size: _size, sizeBefore: _before, ...rest }: Record<string, unknown>) {
  return rest;
}

/** `more` steps follow that the evidence does not hold. */
function Steps({ steps, more, whole }: { steps: readonly Step[]; more: number; whole: boolean }) {
  const shown = whole ? steps : steps.slice(0, SHOWN);
  const physical = steps.filter((step) => step.effect === "physical").length;
  const destructive = steps.filter((step) => step.destructive !== undefined && step.destructive !== "never").length;
  const mismatched = steps.filter((step) => step.mismatch).length;
  const unseen = steps.length - shown.length + more;
  const orMore = more > 0 ? " or more" : "";
  return (
    <>
      <p className="row small">
        <span className="chip">Steps: {steps.length + more}</span>
        {physical > 0 && (
          <span className="chip tone-wait">
            Physical: {physical}
            {orMore}
          </span>
        )}
        {destructive > 0 && (
          <span className="chip tone-bad">
            May destroy: {destructive}
            {orMore}
          </span>
        )}
        {mismatched > 0 && (
          <span className="chip tone-bad">
            Words that do not match: {mismatched}
            {orMore}
          </span>
        )}
      </p>
      <ol className="inbox-steps">
        {shown.map((step) => (
          <li key={step.id}>
            <Call {...step} />
          </li>
        ))}
      </ol>
      {unseen > 0 && <p className="soft small">And {unseen} more in the plan.</p>}
    </>
  );
}

function Proposals({ proposals }: { proposals: readonly Record<string, unknown>[] }) {
  return (
    <section className="stack" aria-label="Proposals by a model">
      <h4>Proposed by a model</h4>
      <ul className="stack">
        {proposals.map((proposal, index) => (
          <li key={index} className="told wait">
            <Values of={proposal} />
          </li>
        ))}
      </ul>
    </section>
  );
}
