/** A person says where the robot stands and what it holds; asked again before it is said. */
import { useEffect, useId, useState } from "react";
import { write } from "@/api/client";
import { CommandButton } from "@/parts/Command";
import { type Cell, type CellDocument, NO_TOOL } from "./model";

export function SetState({ cell, document }: { cell: Cell; document: CellDocument }) {
  const id = useId();
  const [position, setPosition] = useState<string | null>(null);
  const [tool, setTool] = useState<string | null>(null);
  const wanted = { position: position ?? cell.current_position ?? "", tool: tool ?? cell.current_tool };
  const isSame = wanted.position === (cell.current_position ?? "") && wanted.tool === cell.current_tool;
  // What was said and is so now is not kept for the next time, when the robot may stand elsewhere.
  useEffect(() => {
    if (!isSame) return;
    setPosition(null);
    setTool(null);
  }, [isSame]);
  const call = () =>
    write("patch", "/api/v1/cells/{scene}", { path: { scene: cell.scene }, body: wanted }) as Promise<unknown>;
  return (
    <details className="cell-more">
      <summary>Say where the robot stands</summary>
      <div className="stack">
        <div className="field">
          <label htmlFor={`${id}-at`}>Position</label>
          <select
            id={`${id}-at`}
            className="select"
            value={wanted.position}
            onChange={(e) => setPosition(e.target.value)}
          >
            {!cell.current_position && <option value="">Choose …</option>}
            {document.positions.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </div>
        <div className="field">
          <label htmlFor={`${id}-tool`}>Tool</label>
          <select id={`${id}-tool`} className="select" value={wanted.tool} onChange={(e) => setTool(e.target.value)}>
            <option value={NO_TOOL}>nothing</option>
            {document.tools.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </div>
        <CommandButton
          label="Set the state"
          whyNot={isSame ? "That is what is known already." : wanted.position === "" ? "Choose a position." : null}
          call={call}
          done={isSame}
          confirm={{
            title: `Does the robot of ${cell.scene} stand there?`,
            says: (
              <>
                <p>
                  It stands at <strong>{wanted.position}</strong> and holds{" "}
                  <strong>{wanted.tool === NO_TOOL ? "nothing" : wanted.tool}</strong>.
                </p>
                <p className="soft">Every plan from now on begins there. Say so only if you see it.</p>
              </>
            ),
            yes: "Yes, I see it there",
          }}
        />
      </div>
    </details>
  );
}
