/** A plan's preview on the cell's map: the robot and its tool where the scrubber stands. */
import { useMemo } from "react";
import type { PreviewMapProps } from "../craft";
import { CellMap } from "./CellMap";
import { documentOf, momentAt, NO_TOOL, type WayStep, wayOf } from "./model";

export default function PreviewMap({ scene, plan, preview, atS }: PreviewMapProps) {
  const document = useMemo(() => documentOf(scene), [scene]);
  const world = (plan.world ?? {}) as { current_position?: string; current_tool?: string };
  const start = { position: world.current_position ?? null, tool: world.current_tool ?? NO_TOOL };
  const moment = momentAt(preview.timeline, start, atS);
  const way = useMemo(() => {
    const ended = new Set(preview.timeline.filter((one) => one.endS <= atS).map((one) => String(one.stepId)));
    const steps = plan.steps.map((step) => ({
      ...step,
      status: ended.has(step.id) ? "completed" : step.id === String(moment.stepId) ? "running" : "pending",
    }));
    return wayOf(steps as WayStep[], start.position);
  }, [plan, preview, atS, moment.stepId, start.position]);
  return (
    <div className="cell-preview">
      <CellMap document={document} here={moment} tool={moment.tool} way={way} />
    </div>
  );
}
