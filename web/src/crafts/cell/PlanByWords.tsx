/** What the cell should do, in words; the plan is shown before anything moves. */
import { useId, useState } from "react";
import { type Schemas, write } from "@/api/client";
import { go } from "@/frame/router";
import { useWhyNot } from "@/live/hooks";
import { StageWord, useCommand } from "@/parts/Command";
import { Refused } from "@/parts/Told";

const PATIENCE_MS = 20_000;

export function PlanByWords({ scene }: { scene: string }) {
  const id = useId();
  const [text, setText] = useState("");
  const notAllowed = useWhyNot();
  const command = useCommand<Schemas["ReviewedPlanShape"]>();
  const why = notAllowed ?? (text.trim() === "" ? "Write what it should do first." : null);
  const plan = async () => {
    if (why !== null || command.stage === "asked") return;
    const body = { scene, text: text.trim() };
    const made = await command.give(
      () => write("post", "/api/v1/plans", { body, patienceMs: PATIENCE_MS }) as Promise<Schemas["ReviewedPlanShape"]>,
    );
    if (made !== undefined) go(`/plans/${encodeURIComponent(made.id)}`);
  };
  return (
    <form
      className="stack cell-words"
      onSubmit={(event) => {
        event.preventDefault();
        void plan();
      }}
    >
      <label htmlFor={id}>What should it do?</label>
      <div className="row">
        <input
          id={id}
          className="input spread"
          type="text"
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit" className="button first" aria-disabled={why !== null} title={why ?? undefined}>
          Plan it
        </button>
      </div>
      {command.refusal ? <Refused refusal={command.refusal} /> : <StageWord stage={command.stage} />}
    </form>
  );
}
