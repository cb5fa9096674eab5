/**
 * A floor as it was: worksites by occupancy, and each task as a line from where it picks to where it drops. Where robots
 * stood is not in the log, so they are listed under the map with what they did.
 */
import { useMemo } from "react";
import { Id } from "@/parts/Ids";
import { State } from "@/parts/StateMark";
import type { PastMapProps } from "../../craft";
import { floorOf, type Spot } from "./floor";
import "./past.css";

export default function PastMap({ scene, lists }: PastMapProps) {
  const floor = useMemo(() => floorOf(scene.document), [scene.document]);
  const worksites = lists.worksites ?? [];
  const tasks = lists.tasks ?? [];
  const size = floor.unit;
  return (
    <div className="stack">
      <svg
        className="card past-map"
        viewBox={floor.viewBox}
        role="img"
        aria-label={`Map of ${scene.name}: ${worksites.length} worksites, ${tasks.length} tasks`}
      >
        {floor.edges.map(([from, to], index) => (
          <line
            key={index}
            className="past-edge"
            x1={from.x}
            y1={from.y}
            x2={to.x}
            y2={to.y}
            strokeWidth={size * 0.12}
          />
        ))}
        {worksites.map((worksite) => {
          const at = floor.worksites.get(String(worksite.worksiteId));
          return at && <Worksite key={String(worksite.worksiteId)} at={at} size={size} row={worksite} />;
        })}
        {tasks.map((task, index) => {
          const from = floor.worksites.get(String(task.sourceId));
          const to = floor.worksites.get(String(task.targetId));
          return (
            from &&
            to && (
              <Task
                key={String(task.taskId)}
                from={from}
                to={to}
                size={size}
                robot={task.robotId}
                along={0.25 + (index % 6) * 0.1}
              />
            )
          );
        })}
      </svg>
      <p className="row small" aria-hidden="true">
        <span className="past-key filled" /> Filled <span className="past-key" /> Empty{" "}
        <span className="past-key reserved" /> Reserved <span className="past-key unknown" /> Unknown
        <span className="past-key task" /> A task, from pick to drop
      </p>
      <ul className="past-robots" aria-label="Robots">
        {(lists.robots ?? []).map((robot) => (
          <li key={String(robot.robotId)} className="row small">
            <Id field="robotId" id={String(robot.robotId)} about={robot} />
            <State state={robot.status === "offline" ? "offline" : String(robot.phase)} />
            {typeof robot.taskId === "string" && <span className="soft mono">{robot.taskId}</span>}
          </li>
        ))}
      </ul>
      <p className="soft small">Where robots stood is not in the log.</p>
    </div>
  );
}

function Worksite({ at, size, row }: { at: Spot; size: number; row: Record<string, unknown> }) {
  return (
    <rect
      className={`past-worksite ${String(row.occupancy)}`}
      x={at.x - size / 2}
      y={at.y - size / 2}
      width={size}
      height={size}
      strokeWidth={size * 0.14}
    >
      <title>{`${row.worksiteId}: ${row.occupancy}`}</title>
    </rect>
  );
}

interface TaskProps {
  from: Spot;
  to: Spot;
  size: number;
  robot: unknown;
  /** Where on the line the name stands, so that names of lines that cross do not meet. */
  along: number;
}

function Task({ from, to, size, robot, along }: TaskProps) {
  return (
    <g className="past-task">
      <line x1={from.x} y1={from.y} x2={to.x} y2={to.y} strokeWidth={size * 0.16} strokeDasharray={`${size * 0.5}`} />
      <circle cx={to.x} cy={to.y} r={size * 0.28} />
      {typeof robot === "string" && (
        <text
          x={from.x + (to.x - from.x) * along}
          y={from.y + (to.y - from.y) * along - size * 0.2}
          fontSize={size * 0.85}
          textAnchor="middle"
        >
          {robot}
        </text>
      )}
    </g>
  );
}
