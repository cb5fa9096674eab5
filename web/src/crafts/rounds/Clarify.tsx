/** What a question asks back, answered in place; the same decisions wait in the inbox. */
import { write } from "@/api/client";
import { Link } from "@/frame/router";
import { useList } from "@/live/hooks";
import { CommandButton } from "@/parts/Command";
import { Mark } from "@/parts/StateMark";
import type { Decision } from "@/screens/inbox/kinds";
import { Verbs } from "@/screens/inbox/Verbs";
import "@/screens/inbox/inbox.css";
import { choicesOf, type Question } from "./results";

export function Clarify({ question }: { question: Question }) {
  const all = useList<Decision>("decisions");
  const mine = [...all.values()].filter((decision) => decision.about.questionId === question.questionId);
  return mine.map((decision) => <Asked key={decision.id} decision={decision} question={question} />);
}

function Asked({ decision, question }: { decision: Decision; question: Question }) {
  const inputs = decision.evidence.inputs as Record<string, unknown> | undefined;
  const unclear = typeof inputs?.unclear === "string" ? inputs.unclear : decision.title;
  const choices = decision.kind === "question" ? choicesOf(question) : [];
  const answer = (value: string) =>
    write("post", "/api/v1/inbox/{decision_id}", {
      path: { decision_id: decision.id },
      body: { verb: "answer", value },
    });
  return (
    <section className="told wait ask-clarify" aria-label="It asks back">
      <Mark state="waiting" />
      <div className="stack">
        <p>
          <strong>{unclear}</strong>{" "}
          <Link to={`/inbox/${encodeURIComponent(decision.id)}`} className="small">
            in the inbox
          </Link>
        </p>
        {choices.length > 0 && decision.verbs.includes("answer") && (
          <div className="row">
            {choices.map((choice) => (
              <CommandButton key={choice} label={choice} small tone="first" call={() => answer(choice)} />
            ))}
          </div>
        )}
        <Verbs decision={decision} onAnswered={() => undefined} />
      </div>
    </section>
  );
}
