/** Have the planner that made the plan make it anew, from the present state, with a note of what should be different. */
import { useState } from "react";
import { write } from "@/api/client";
import { useWhyNot } from "@/live/hooks";
import { useCommand } from "@/parts/Command";
import { NoteDialog } from "./NoteDialog";
import type { PlanDoc } from "./usePlan";

export function Regenerate({ plan, take, small }: { plan: PlanDoc; take: (plan: PlanDoc) => void; small?: boolean }) {
  const [asking, setAsking] = useState(false);
  const [note, setNote] = useState("");
  const [says, setSays] = useState("");
  const command = useCommand();
  const whyNot = useWhyNot();
  const send = async () => {
    const answer = await command.give(() =>
      write("post", "/api/v1/plans/{plan_id}/regenerate", {
        path: { plan_id: plan.id },
        body: { note },
        patienceMs: 15_000,
      }),
    );
    if (answer === undefined || answer === null || typeof answer !== "object") return;
    if ("says" in answer && !("steps" in answer)) setSays(String(answer.says));
    else take(withoutDecision(answer as PlanDoc & { decision?: unknown }));
    setAsking(false);
  };
  return (
    <>
      <button
        type="button"
        className={`button ${small ? "small" : ""}`}
        aria-disabled={whyNot !== null}
        title={whyNot ?? undefined}
        onClick={() => {
          if (whyNot !== null) return;
          command.forget();
          setAsking(true);
        }}
      >
        Regenerate
      </button>
      {says && <span role="status">{says}</span>}
      {asking && (
        <NoteDialog
          title="Make the plan anew"
          says={<p className="soft">It is planned from the present state and kept as a new version. Nothing starts.</p>}
          label="What should be different"
          note={note}
          onNote={setNote}
          yes="Make it anew"
          tone="first"
          command={command}
          onSend={() => void send()}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

function withoutDecision({ decision: _, ...plan }: PlanDoc & { decision?: unknown }): PlanDoc {
  return plan;
}
