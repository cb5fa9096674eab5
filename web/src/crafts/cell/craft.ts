/** Robot cells: a map of positions, the robot, its tool. */
import { lazy } from "react";
import { byField } from "@/live/rows";
import type { CraftPart } from "../craft";

export const cell: CraftPart = {
  name: "cell",
  sceneKind: "cell",
  modelReads: true,
  example: "weld positions 1 and 2, then go home",
  pastMap: lazy(() => import("./past/PastMap")),
  rules: [
    {
      list: "cells",
      key: byField("scene"),
      kinds: { cellStateChanged: (before, event) => ({ ...before, ...event.data }) },
    },
  ],
  ways: { cell: (id) => `/cells/${encodeURIComponent(id)}` },
  previewMap: lazy(() => import("./PreviewMap")),
  sceneMap: lazy(() => import("./SceneMap")),
  faults: lazy(() => import("./SetupFaults")),
  palette: (snapshot) =>
    [...(snapshot.lists.cells?.values() ?? [])].map((cell) => ({
      name: `cell state ${cell.scene}`,
      says: String(cell.says ?? cell.current_position),
      to: `/cells/${encodeURIComponent(String(cell.scene))}`,
    })),
  screens: [
    {
      path: "/cells",
      title: "Cells",
      view: lazy(() => import("./Cells")),
      rail: { icon: "arm", key: "e", order: 50, says: "Each cell's map, robot and tool" },
    },
    { path: "/cells/:scene", title: "Cell", view: lazy(() => import("./Cells")) },
  ],
};
