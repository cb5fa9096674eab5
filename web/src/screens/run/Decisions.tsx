/** What this run asks a person, answered in place. */
import { DecisionCard } from "@/screens/inbox/DecisionCard";
import type { RunDoc } from "./useRun";

export function Decisions({ run }: { run: RunDoc }) {
  const open = run.decisions.filter((decision) => decision.status === "open");
  if (open.length === 0) return null;
  return (
    <section className="stack" aria-label="Needs you">
      <h2>Needs you</h2>
      {open.map((decision) => (
        <DecisionCard key={decision.id} decision={decision} />
      ))}
    </section>
  );
}
