/** When each action was moving, acting and done: a lane an action, with the moment that is looked at as a line. */
import { lookOf } from "@/parts/StateMark";
import { duration } from "@/parts/time";
import type { Lane } from "./session";

const HEIGHT = 30;
const WIDTH = 1_000;

export function Lanes({ lanes, untilS, atS }: { lanes: readonly Lane[]; untilS: number; atS: number }) {
  const total = Math.max(untilS, 1);
  const x = (seconds: number) => (seconds / total) * WIDTH;
  if (lanes.length === 0) return <p className="soft">No action has been started.</p>;
  return (
    <ol className="agent-lanes">
      {lanes.map((lane, index) => (
        <li key={index}>
          <span className="agent-lane-name" title={lane.action}>
            {lane.action}
          </span>
          <svg
            className="agent-lane"
            viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={spoken(lane)}
          >
            {lane.spans.map((span, at) => {
              const end = span.toS ?? total;
              return (
                <rect
                  key={at}
                  className={`agent-span ${span.stage} tone-${lookOf(span.stage).tone}`}
                  x={x(span.fromS)}
                  y={5}
                  width={Math.max(x(end) - x(span.fromS), 2)}
                  height={HEIGHT - 10}
                  rx={3}
                >
                  <title>{`${span.stage} ${duration(end - span.fromS)}${span.reason ? `: ${span.reason}` : ""}`}</title>
                </rect>
              );
            })}
            <line className="agent-now" x1={x(atS)} x2={x(atS)} y1={0} y2={HEIGHT} />
          </svg>
        </li>
      ))}
    </ol>
  );
}

function spoken(lane: Lane): string {
  const spans = lane.spans.map(
    (span) => `${span.stage} from ${span.fromS} s${span.toS == null ? "" : ` to ${span.toS} s`}`,
  );
  return `${lane.action}: ${spans.join(", ")}`;
}
