/** Discard the plan: its review is answered with `cancel`, with a note for whoever asks later. */
import { useState } from "react";
import { type Schemas, write } from "@/api/client";
import { useWhyNot } from "@/live/hooks";
import { useCommand } from "@/parts/Command";
import { NoteDialog } from "./NoteDialog";

export function CancelPlan({ decision }: { decision: Schemas["DecisionShape"] }) {
  const [asking, setAsking] = useState(false);
  const [note, setNote] = useState("");
  const command = useCommand(decision.status !== "open");
  const whyNot = useWhyNot();
  const send = async () => {
    const answer = await command.give(() =>
      write("post", "/api/v1/inbox/{decision_id}", {
        path: { decision_id: decision.id },
        body: { verb: "cancel", note },
      }),
    );
    if (answer !== undefined) setAsking(false);
  };
  return (
    <>
      <button
        type="button"
        className="button danger"
        aria-disabled={whyNot !== null}
        title={whyNot ?? undefined}
        onClick={() => {
          if (whyNot !== null) return;
          command.forget();
          setAsking(true);
        }}
      >
        Cancel
      </button>
      {asking && (
        <NoteDialog
          title="Cancel this plan"
          says={<p>{decision.effects.cancel}</p>}
          label="Note"
          note={note}
          onNote={setNote}
          yes="Cancel the plan"
          tone="danger"
          command={command}
          onSend={() => void send()}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
