/** Which scene the words are for: each says whether it understands them; the best is taken until one is chosen. */
import { useId } from "react";
import { Mark } from "@/parts/StateMark";
import type { Outcomes, SceneRow } from "./reading";

interface Props {
  rows: readonly SceneRow[];
  outcomes: Outcomes | undefined;
  chosen: string | null;
  isAsked: boolean;
  onChoose: (name: string | null) => void;
}

export function Scenes({ rows, outcomes, chosen, isAsked, onChoose }: Props) {
  const id = useId();
  if (rows.length < 2) return null;
  return (
    <fieldset className="new-scenes">
      <legend className="soft small">Scene</legend>
      {rows.map((row) => {
        const understood = outcomes?.[row.name]?.reading !== undefined;
        return (
          <label key={row.name} className="new-scene" data-understood={understood}>
            <input type="radio" name={id} checked={row.name === chosen} onChange={() => onChoose(row.name)} />
            <span className="new-scene-name">{row.name}</span>
            {outcomes && (
              <span className={understood ? "row small tone-good" : "row small soft"}>
                <Mark state={understood ? "ok" : "pending"} size={13} />
                {understood ? "understands" : "does not"}
              </span>
            )}
          </label>
        );
      })}
      {isAsked && (
        <button type="button" className="button small ghost" onClick={() => onChoose(null)}>
          Whichever understands
        </button>
      )}
    </fieldset>
  );
}
