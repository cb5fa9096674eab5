/** Steps over time, a lane for each tool. A bar is a button that chooses its step; a line shows where the time is. */
import { useMemo } from "react";
import { lookOf } from "../StateMark";
import { inLanes, type Span } from "./lanes";
import "./steps.css";
import { span as spell } from "./steps";

export function Timeline({
  spans,
  totalS,
  atS,
  chosen,
  onChoose,
}: {
  spans: readonly Span[];
  totalS: number;
  atS?: number;
  chosen: string | null;
  onChoose: (stepId: string) => void;
}) {
  const lanes = useMemo(() => inLanes(spans), [spans]);
  const whole = Math.max(totalS, 1e-6);
  const percent = (seconds: number) => `${(Math.min(Math.max(seconds, 0), whole) / whole) * 100}%`;
  const marks = [0, 0.25, 0.5, 0.75, 1];
  return (
    <div className="steps-lanes">
      <ul className="steps-lanes-list">
        {lanes.map((lane, index) => (
          <li key={index} className="steps-lane">
            <span className="steps-lane-name soft small" title={lane.name}>
              {lane.name === lanes[index - 1]?.name ? "" : lane.name}
            </span>
            <span className="steps-lane-track">
              {lane.spans.map((span) => (
                <button
                  key={span.key}
                  type="button"
                  className={`steps-lane-bar tone-${lookOf(span.state).tone} ${span.stepId === chosen ? "chosen" : ""}`}
                  style={{ left: percent(span.startS), width: percent(span.endS - span.startS) }}
                  title={`${span.label}: ${spell(span.startS)} to ${spell(span.endS)}, ${lookOf(span.state).word}`}
                  aria-label={`${span.label}, ${spell(span.startS)} to ${spell(span.endS)}, ${lookOf(span.state).word}`}
                  onClick={() => onChoose(span.stepId)}
                />
              ))}
              {atS !== undefined && <span className="steps-lane-now" style={{ left: percent(atS) }} />}
            </span>
          </li>
        ))}
      </ul>
      <div className="steps-lane-scale soft small" aria-hidden="true">
        {marks.map((mark) => (
          <span key={mark}>{spell(mark * whole)}</span>
        ))}
      </div>
    </div>
  );
}
