/** A cell as it was: its positions and moves, where the robot stood, and the tool it held. */
import { useMemo } from "react";
import type { PastMapProps } from "../../craft";
import { CellMap } from "../CellMap";
import { documentOf, NO_TOOL } from "../model";

export default function PastMap({ scene, lists }: PastMapProps) {
  const document = useMemo(() => documentOf(scene), [scene]);
  const cell = (lists.cells ?? [])[0] ?? {};
  const here = cell.current_position ? String(cell.current_position) : null;
  const tool = String(cell.current_tool ?? NO_TOOL);
  return (
    <div className="stack">
      <p>
        Robot at <strong>{here ?? "an unknown place"}</strong>, tool <strong>{tool}</strong>
      </p>
      <div className="card cell-map-card">
        <CellMap document={document} here={{ from: here, to: null, share: 0 }} tool={tool} />
      </div>
    </div>
  );
}
