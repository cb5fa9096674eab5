/** A live cell drawn small, for a run's screen and the list of scenes. */
import { useMemo } from "react";
import { useList } from "@/live/hooks";
import type { SceneMapProps } from "../craft";
import { CellMap } from "./CellMap";
import { type Cell, documentOf, NO_TOOL } from "./model";
import { useRunOf, useWaiting, useWay } from "./useCell";

export default function SceneMap({ scene }: SceneMapProps) {
  const document = useMemo(() => documentOf(scene), [scene]);
  const cell = useList<Cell>("cells").get(scene.name);
  const standing = cell?.current_position ?? null;
  const way = useWay(useRunOf(scene.name), useWaiting(scene.name), standing);
  return (
    <CellMap
      document={document}
      here={{ from: standing, to: standing, share: 0 }}
      tool={cell?.current_tool ?? NO_TOOL}
      way={way}
    />
  );
}
