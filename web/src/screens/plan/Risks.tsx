/** What to know before starting: the risks the server sees, each with its steps, and why it would not start now. */
import { type ReactNode, useMemo } from "react";
import type { Schemas } from "@/api/client";
import { Mark } from "@/parts/StateMark";
import type { Step } from "@/parts/steps/steps";
import { ReasonLine } from "@/parts/Told";
import type { Review } from "./usePlan";

export type RiskKind = Schemas["RiskShape"]["kind"];

const KINDS: Record<RiskKind, { state: string; word: string; short: string }> = {
  physical: { state: "moving", word: "Physical", short: "Physical" },
  destructive: { state: "error", word: "Destructive", short: "Destroys" },
  outside: { state: "offline", word: "Outside the workspace", short: "Outside" },
  duration: { state: "waiting", word: "Unknown duration", short: "Open-ended" },
  mismatch: { state: "in_doubt", word: "Words and call differ", short: "Words differ" },
};

export function RiskChip({ kind }: { kind: RiskKind }) {
  return (
    <span className="chip">
      <Mark state={KINDS[kind].state} size={12} /> {KINDS[kind].short}
    </span>
  );
}

/** The risks of each step, without those that every step has. */
export function useRisksByStep(review: Review | undefined, steps: readonly Step[]) {
  return useMemo(() => {
    const found = new Map<string, RiskKind[]>();
    for (const risk of review?.risks ?? []) {
      if (risk.steps.length === steps.length && steps.length > 1) continue;
      for (const id of risk.steps) found.set(id, [...(found.get(id) ?? []), risk.kind]);
    }
    return found;
  }, [review, steps]);
}

const SHOWN = 6;

export function RiskSummary({ review, onChoose }: { review: Review | undefined; onChoose: (id: string) => void }) {
  return (
    <section className="plan-risks card" aria-label="Risks">
      <h2 className="hidden-text">Risks</h2>
      {review === undefined && <p className="soft">Looking for risks …</p>}
      {review?.risks.length === 0 && (
        <p className="plan-no-risk">
          <Mark state="done" /> Nothing physical, destructive, outside the workspace or of unknown duration; words and
          calls agree.
        </p>
      )}
      {review?.risks.map((risk) => (
        <div key={risk.kind} className="plan-risk" data-risk={risk.kind}>
          <p className="plan-risk-kind">
            <Mark state={KINDS[risk.kind].state} /> {KINDS[risk.kind].word}
          </p>
          <p>{risk.says}</p>
          <p className="row small">
            {risk.steps.slice(0, SHOWN).map((id) => (
              <button key={id} type="button" className="plan-link" onClick={() => onChoose(id)}>
                {id}
              </button>
            ))}
            {risk.steps.length > SHOWN && <span className="soft">and {risk.steps.length - SHOWN} more</span>}
          </p>
        </div>
      ))}
    </section>
  );
}

/** What a start would refuse now; drift has Regenerate beside it. */
export function WhyNotStart({ review, regenerate }: { review: Review | undefined; regenerate: ReactNode }) {
  const told = (review?.whyNot ?? []).filter((reason) => reason.code !== "plan.stale" && reason.code !== CLOSED);
  if (told.length === 0) return null;
  return (
    <section className="told wait" aria-label="Why it would not start now" role="status">
      <Mark state="warning" />
      <div className="stack">
        {told.map((reason) => (
          <ReasonLine
            key={`${reason.code} ${reason.about}`}
            reason={reason}
            action={reason.code === "plan.drift" ? regenerate : undefined}
          />
        ))}
      </div>
    </section>
  );
}

export const CLOSED = "plan.review_closed";
