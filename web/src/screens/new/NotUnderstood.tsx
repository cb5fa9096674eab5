/** Words that were refused: why, what was understood, what was not, and the names that were perhaps meant. */
import type { Refusal } from "@/api/client";
import { Mark } from "@/parts/StateMark";
import { Problems } from "@/parts/Told";

interface Props {
  refusal: Refusal;
  onReplace: (was: string, name: string) => void;
}

export function NotUnderstood({ refusal, onReplace }: Props) {
  const understood = pieces(refusal.body.understood);
  const strange = pieces(refusal.body.notUnderstood);
  const meant = refusal.problems.filter((problem) => problem.about && problem.nearest.length > 0);
  return (
    <div className="told wait" role="status">
      <Mark state="warning" />
      <div className="stack">
        <p>{refusal.message}</p>
        {refusal.problems.length > 1 && <Problems problems={refusal.problems} />}
        {(understood.length > 0 || strange.length > 0) && (
          <p className="row">
            {understood.map((piece) => (
              <span className="chip" key={piece}>
                <Mark state="ok" size={12} /> {piece}
              </span>
            ))}
            {strange.map((piece) => (
              <span className="chip tone-bad" key={piece}>
                <Mark state="failed" size={12} /> {piece}
              </span>
            ))}
          </p>
        )}
        {meant.map((problem) => (
          <p className="row" key={problem.about}>
            <span className="soft">
              Instead of <code>{problem.about}</code>:
            </span>
            {problem.nearest.map((name) => (
              <button type="button" className="button small" key={name} onClick={() => onReplace(problem.about, name)}>
                {name}
              </button>
            ))}
          </p>
        ))}
        {refusal.tryNext && <p className="soft">{refusal.tryNext}</p>}
      </div>
    </div>
  );
}

/** Pieces come as texts, or as a text with what it was read as. */
function pieces(told: unknown): string[] {
  if (!Array.isArray(told)) return [];
  return told.map((piece: unknown) =>
    typeof piece === "object" && piece !== null && "says" in piece ? String(piece.says) : String(piece),
  );
}
