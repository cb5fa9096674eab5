/** The same robots and worksites as on the map, as a list: for keyboards, screen readers and a quick search. */
import { type CSSProperties, memo, useDeferredValue, useMemo, useState } from "react";
import { Link } from "@/frame/router";
import { wayTo } from "@/parts/Ids";
import { lookOf, Mark } from "@/parts/StateMark";
import { Ago } from "@/parts/time";
import { isService, lies, percent, type Robot, saysOf, stateOf, type Task, type Worksite, withoutName } from "./model";
import { OccupancyMark, wordOf } from "./Occupancy";
import { type Floor, useSlow } from "./useFloor";

export function FloorList({ floor, selected }: { floor: Floor; selected: { kind: string; id: string } | null }) {
  const [words, setWords] = useState("");
  const wanted = useDeferredValue(words.trim().toLowerCase());
  const robots = useSlow(floor.robots);
  const sites = useSlow(floor.sites);
  const tasks = useSlow(floor.tasks);
  const shownRobots = useMemo(
    () => robots.filter((robot) => matches(wanted, robot.robotId, stateOf(robot), lookOf(stateOf(robot)).word)),
    [robots, wanted],
  );
  const shownSites = useMemo(
    () => sites.filter((site) => matches(wanted, site.worksiteId, site.groupId, site.worksiteType, site.occupancy)),
    [sites, wanted],
  );
  const waiting = [...floor.tasks.values()].filter((task) => !task.robotId);
  const selectedOf = (kind: string) => (selected?.kind === kind ? selected.id : null);
  return (
    <div className="floor-list">
      <input
        className="input"
        type="search"
        data-search
        aria-label="Search robots and worksites"
        placeholder="Search"
        value={words}
        onChange={(event) => setWords(event.target.value)}
      />
      <div className="floor-lists">
        <h2 id="floor-robots">
          Robots <span className="soft">{shownRobots.length}</span>
        </h2>
        <RobotRows robots={shownRobots} tasks={tasks} selected={selectedOf("robot")} />
        {floor.robots.length === 0 && (
          <div className="floor-none">
            <p className="soft">This scene has no robots.</p>
            <Link className="button small" to={`/scenes/${encodeURIComponent(floor.scene)}`}>
              Add robots to the scene
            </Link>
          </div>
        )}
        {waiting.length > 0 && <Waiting tasks={waiting} />}
        <h2 id="floor-sites">
          Worksites <span className="soft">{shownSites.length}</span>
        </h2>
        <SiteRows sites={shownSites} selected={selectedOf("worksite")} />
        {shownRobots.length + shownSites.length === 0 && wanted !== "" && (
          <p className="soft floor-none">Nothing here is called that.</p>
        )}
      </div>
    </div>
  );
}

function matches(wanted: string, ...told: (string | null | undefined)[]): boolean {
  return wanted === "" || told.some((one) => one?.toLowerCase().includes(wanted));
}

type Tasks = ReadonlyMap<string, Task>;

const RobotRows = memo(function RobotRows(given: { robots: readonly Robot[]; tasks: Tasks; selected: string | null }) {
  return (
    <ul aria-labelledby="floor-robots">
      {given.robots.map((robot) => (
        <RobotRow
          key={robot.robotId}
          robot={robot}
          task={robot.taskId ? given.tasks.get(robot.taskId) : undefined}
          isSelected={robot.robotId === given.selected}
        />
      ))}
    </ul>
  );
});

const SiteRows = memo(function SiteRows({ sites, selected }: { sites: readonly Worksite[]; selected: string | null }) {
  const longest = Math.max(8, ...sites.map((site) => site.worksiteId.length));
  return (
    <ul aria-labelledby="floor-sites" className="floor-sites" style={{ "--longest": longest } as CSSProperties}>
      {sites.map((site) => (
        <SiteRow key={site.worksiteId} site={site} isSelected={site.worksiteId === selected} />
      ))}
    </ul>
  );
});

const RobotRow = memo(function RobotRow(given: { robot: Robot; task: Task | undefined; isSelected: boolean }) {
  const { robot, task, isSelected } = given;
  const state = stateOf(robot);
  const says = saysOf(robot, task);
  return (
    <li>
      <Link
        to={wayTo("robotId", robot.robotId, robot) ?? "/floor"}
        className="floor-row"
        data-step
        data-robot={robot.robotId}
        data-state={state}
        aria-current={isSelected || undefined}
        title={says}
      >
        <Mark state={state} />
        <span className="floor-name">
          <strong>{robot.robotId}</strong> <span className={`tone-${lookOf(state).tone}`}>{lookOf(state).word}</span>
        </span>
        <span className={(robot.battery ?? 1) < 0.25 ? "floor-percent tone-bad" : "floor-percent soft"}>
          <span className="hidden-text">Battery </span>
          {percent(robot.battery)}
        </span>
        <span className="floor-says">
          {withoutName(says, robot.robotId)}
          {state === "offline" && robot.lastSeenTsMs ? (
            <>
              {" "}
              Last seen <Ago at={robot.lastSeenTsMs} />.
            </>
          ) : null}
        </span>
      </Link>
    </li>
  );
});

const SiteRow = memo(function SiteRow({ site, isSelected }: { site: Worksite; isSelected: boolean }) {
  const occupancy = site.occupancy ?? "unknown";
  return (
    <li>
      <Link
        to={wayTo("worksiteId", site.worksiteId, site) ?? "/floor"}
        className="floor-site"
        data-step
        data-worksite={site.worksiteId}
        data-occupancy={occupancy}
        aria-current={isSelected || undefined}
        title={`${site.worksiteId}: ${wordOf(occupancy)}`}
      >
        {isService(site) ? (
          <ServiceMark type={site.worksiteType} />
        ) : (
          <OccupancyMark occupancy={occupancy} under={lies(site)} />
        )}
        <span>{site.worksiteId}</span>
        <span className="hidden-text">
          , {site.worksiteType}, {wordOf(occupancy)}
        </span>
      </Link>
    </li>
  );
});

function ServiceMark({ type }: { type: string }) {
  const isCharger = type === "charger";
  return (
    <svg
      className={isCharger ? "mark tone-good" : "mark tone-quiet"}
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      aria-hidden="true"
    >
      <circle cx="8" cy="8" r="6.6" />
      <path d={isCharger ? "M8.8 3.6L6 8.4h3.4L7.4 12.4" : "M6.4 11.6V4.6h2a2 2 0 0 1 0 4h-2"} />
    </svg>
  );
}

function Waiting({ tasks }: { tasks: readonly Task[] }) {
  return (
    <>
      <h2>Waiting for a robot</h2>
      <ul>
        {tasks.slice(0, 20).map((task) => (
          <li key={task.taskId}>
            <Link to={wayTo("taskId", task.taskId, task) ?? "/floor"} className="floor-row" data-step>
              <Mark state={task.status ?? "created"} />
              <strong className="floor-name">{task.taskId}</strong>
              <span className="floor-says">{task.says}</span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}
