/** When each try of each step began and ended, read from the log of a run. */
import type { LogEvent } from "@/live/protocol";
import type { Span } from "@/parts/steps/lanes";
import type { Step } from "@/parts/steps/steps";

export function spansOf(log: readonly LogEvent[], steps: readonly Step[], startedAt: string, nowMs: number): Span[] {
  const zero = Date.parse(startedAt);
  const known = new Map(steps.map((step) => [step.id, step]));
  const open = new Map<string, Span>();
  const spans: Span[] = [];
  for (const event of log) {
    if (event.kind !== "stepUpdated") continue;
    const id = String(event.about.stepId);
    const status = String(event.data.status);
    const atS = (Date.parse(event.ts) - zero) / 1_000;
    const going = open.get(id);
    if (status === "running" && going === undefined) {
      const step = known.get(id);
      const span: Span = {
        key: `${id} ${event.seq}`,
        stepId: id,
        lane: step?.tool ?? "",
        label: step?.description || id,
        state: status,
        startS: atS,
        endS: atS,
      };
      open.set(id, span);
      spans.push(span);
    } else if (going !== undefined && status !== "running") {
      going.endS = atS;
      going.state = status;
      open.delete(id);
    }
  }
  for (const span of open.values()) span.endS = Math.max(span.startS, (nowMs - zero) / 1_000);
  return spans;
}
