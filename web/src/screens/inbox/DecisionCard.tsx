/** A decision with everything needed to answer it: what asks, what will happen, who asked, what if nobody answers. */
import { useLayoutEffect, useRef, useState } from "react";
import type { Refusal } from "@/api/client";
import { go, Link } from "@/frame/router";
import { useList } from "@/live/hooks";
import { About } from "@/parts/Ids";
import { State } from "@/parts/StateMark";
import { Refused } from "@/parts/Told";
import { Ago } from "@/parts/time";
import { Evidence } from "./Evidence";
import { type Decision, kindOf, verbWord } from "./kinds";
import { Verbs } from "./Verbs";
import "./inbox.css";

interface Props {
  decision: Decision;
  /** The whole evidence instead of its beginning. */
  whole?: boolean;
  onAnswered?: () => void;
  onRefused?: (refusal: Refusal) => void;
}

export function DecisionCard({ decision, whole = false, onAnswered, onRefused }: Props) {
  const open = useList("decisions").has(decision.id);
  const [answered, setAnswered] = useState<string | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const card = useRef<HTMLElement>(null);
  const focused = useRef(false);
  // The button that was pressed goes with the answer; the focus stays with its card, and the card with the reader.
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the verbs go
  useLayoutEffect(() => {
    if (focused.current && !card.current?.contains(document.activeElement))
      card.current?.focus({ preventScroll: true });
  }, [open, answered]);
  const to = `/inbox/${encodeURIComponent(decision.id)}`;
  const kind = kindOf(decision);
  const about = { ...decision.about, decisionId: undefined };
  const run = useList<{ name?: string }>("runs").get(String(decision.about.runId));
  return (
    <article
      ref={card}
      onFocus={() => {
        focused.current = true;
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter" && event.target === event.currentTarget) go(to);
      }}
      onBlur={(event) => {
        focused.current = event.currentTarget.contains(event.relatedTarget);
      }}
      className={`card decision ${open ? "" : "over"}`}
      data-step
      data-decision={decision.id}
      tabIndex={-1}
      aria-label={decision.title}
    >
      <header className="row">
        <State state={kind.state} word={kind.word} />
        <span className="soft small">
          <Ago at={decision.openedAt} />
          {decision.askedBy && ` · asked by ${decision.askedBy}`}
        </span>
        <span className="spread" />
        <About about={about} labels={{ planId: run?.name }} />
      </header>
      <h3>
        <Link to={to}>{decision.title}</Link>
      </h3>
      <Evidence decision={decision} whole={whole} />
      {decision.kind === "review" && typeof decision.about.planId === "string" && (
        <p>
          <Link className="button" to={`/plans/${encodeURIComponent(decision.about.planId)}`}>
            Open the plan
          </Link>
        </p>
      )}
      {open && answered === null ? (
        <>
          <Verbs
            decision={decision}
            onAnswered={(verb) => {
              setAnswered(verb);
              onAnswered?.();
            }}
            onRefused={(refused) => {
              setRefusal(refused);
              onRefused?.(refused);
            }}
          />
          {decision.ifUnanswered && <p className="soft small">If nobody answers: {decision.ifUnanswered}</p>}
        </>
      ) : (
        <>
          <p className="soft" role="status">
            {answered === null ? "Answered or withdrawn meanwhile." : `Answered: ${verbWord(answered)}.`}
          </p>
          {answered === null && refusal && <Refused refusal={refusal} />}
        </>
      )}
    </article>
  );
}

/** After an answer the focus goes to the next decision on the page. */
export function focusNextDecision(after: string): void {
  const cards = [...document.querySelectorAll<HTMLElement>("[data-decision]")];
  const at = cards.findIndex((card) => card.dataset.decision === after);
  const rest = [...cards.slice(at + 1), ...cards.slice(0, Math.max(at, 0))];
  rest.find((card) => !card.classList.contains("over"))?.focus();
}
