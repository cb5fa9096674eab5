/** Where the plan came from: the words, the intent read from them, the model, template or person. */
import type { ReactNode } from "react";
import { inWords } from "@/parts/Form";
import { Value } from "@/parts/steps/StepCall";
import type { PlanDoc, Review } from "./usePlan";

export function Origin({ plan, review }: { plan: PlanDoc; review: Review | undefined }) {
  const { origin, notes, comparison, world } = plan;
  return (
    <div className="stack">
      <dl className="plan-facts-list card padded">
        {origin?.text && <Part label="In words">“{origin.text}”</Part>}
        <Part label="Made by">{origin?.planner ?? "a person"}</Part>
        {origin?.model && <Part label="Model">{origin.model}</Part>}
        {review?.decision?.askedBy && <Part label="Handed in by">{review.decision.askedBy}</Part>}
        {origin?.intent && (
          <Part label="Intent">
            <Value value={origin.intent} />
          </Part>
        )}
        {Object.entries(origin?.options ?? {}).map(([name, value]) => (
          <Part key={name} label={inWords(name)}>
            <Value value={value} />
          </Part>
        ))}
        {world && (
          <Part label="Planned from">
            {Object.entries(world)
              .map(([name, value]) => `${inWords(name)}: ${String(value)}`)
              .join(", ")}
          </Part>
        )}
        {comparison && (
          <Part label="Compared with">
            <Value value={comparison} />
          </Part>
        )}
      </dl>
      {notes && notes.length > 0 && (
        <section className="stack">
          <h2>Notes</h2>
          <ul className="problems">
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function Part({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt className="soft">{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
