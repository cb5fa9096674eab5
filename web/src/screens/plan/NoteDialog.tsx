/** A question that takes a note: what it does, the note, and the button that sends it. */
import type { ReactNode } from "react";
import { type Commanded, StageWord } from "@/parts/Command";
import { Dialog } from "@/parts/Dialog";
import { Refused } from "@/parts/Told";

interface Props {
  title: string;
  says: ReactNode;
  label: string;
  note: string;
  onNote: (note: string) => void;
  yes: string;
  tone: "first" | "danger";
  command: Pick<Commanded<unknown>, "refusal" | "stage">;
  onSend: () => void;
  onClose: () => void;
}

export function NoteDialog({ title, says, label, note, onNote, yes, tone, command, onSend, onClose }: Props) {
  return (
    <Dialog title={title} onClose={onClose}>
      {says}
      <div className="field">
        <label htmlFor="plan-note">
          {label}
          <span className="soft small"> optional</span>
        </label>
        <textarea
          id="plan-note"
          className="textarea"
          maxLength={10_000}
          value={note}
          onChange={(event) => onNote(event.target.value)}
        />
      </div>
      {command.refusal && <Refused refusal={command.refusal} />}
      <div className="row">
        <button type="button" className={`button ${tone}`} onClick={onSend}>
          {yes}
        </button>
        <button type="button" className="button ghost" onClick={onClose}>
          Back
        </button>
        {command.stage === "asked" && <StageWord stage="asked" />}
      </div>
    </Dialog>
  );
}
