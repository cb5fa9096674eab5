/** The details of one robot, what a person may ask of it, its task, and why it does nothing. */
import { Drawer } from "@/frame/Drawer";
import { useTick } from "@/live/hooks";
import { CommandButton } from "@/parts/Command";
import { Id } from "@/parts/Ids";
import { State } from "@/parts/StateMark";
import { Empty } from "@/parts/Told";
import { Ago } from "@/parts/time";
import { askRobot, type RobotVerb, setLoad } from "./calls";
import { Faults } from "./Faults";
import { linkOf, percent, type Robot, saysOf, stateOf } from "./model";
import { RobotLink } from "./RobotLink";
import { TaskPart } from "./TaskPart";
import type { Floor } from "./useFloor";
import { Why } from "./Why";

export function RobotDrawer({ floor, id, onClose }: { floor: Floor; id: string; onClose: () => void }) {
  useTick(1_000);
  const robot = floor.robots.find((one) => one.robotId === id);
  if (robot === undefined)
    return (
      <Drawer title={id} onClose={onClose}>
        <Empty title={`There is no robot ${id} in ${floor.scene}.`} />
      </Drawer>
    );
  const task = robot.taskId ? floor.tasks.get(robot.taskId) : undefined;
  return (
    <Drawer title={id} onClose={onClose}>
      <p className="floor-doing" data-robot-state={stateOf(robot)}>
        <State state={stateOf(robot)} /> <span>{saysOf(robot, task)}</span>
      </p>
      <RobotVerbs floor={floor} robot={robot} />
      <RobotFacts floor={floor} robot={robot} />
      <LoadSaid robot={robot} />
      {task && <TaskPart task={task} robot={robot} heading />}
      {linkOf(floor.document, id) !== "sim" && <RobotLink scene={floor.scene} robotId={id} />}
      <Why kind="robots" id={id} scene={floor.scene} />
      <Faults document={floor.document} robotId={id} />
    </Drawer>
  );
}

const SOURCES: Record<string, string> = {
  task: "as its task went",
  sensor: "as its sensor says",
  manual: "as a person said",
};

function RobotFacts({ floor, robot }: { floor: Floor; robot: Robot }) {
  const seen = floor.tracks.seenOf(robot.robotId);
  const battery = seen?.battery ?? robot.battery;
  const node = seen?.nodeId ?? robot.nodeId;
  const lastSeen = seen?.lastSeenTsMs ?? robot.lastSeenTsMs;
  const source = SOURCES[robot.loadStateSource ?? ""] ?? "no source given";
  return (
    <dl className="floor-facts">
      <dt>Battery</dt>
      <dd>
        {percent(battery)}
        {typeof battery === "number" && (
          <span className={battery < 0.25 ? "floor-battery low" : "floor-battery"} aria-hidden="true">
            <span style={{ width: `${Math.min(100, battery * 100)}%` }} />
          </span>
        )}
      </dd>
      <dt>Load</dt>
      <dd>
        {robot.loadState}, {source} <span className="soft">({robot.loadStateConfidence} confidence)</span>
      </dd>
      <dt>Where</dt>
      <dd>
        <code>{node ?? "unknown"}</code>
        {seen?.nextNodeId && (
          <>
            {" → "}
            <code>{seen.nextNodeId}</code>
          </>
        )}
      </dd>
      {robot.waitsFor && (
        <>
          <dt>Waits for</dt>
          <dd>
            <Id field="robotId" id={robot.waitsFor} about={{ scene: robot.scene }} />
            {robot.waitsSinceTsMs && (
              <>
                {", began "}
                <Ago at={robot.waitsSinceTsMs} />
              </>
            )}
          </dd>
        </>
      )}
      <dt>Last seen</dt>
      <dd>{lastSeen ? <Ago at={lastSeen} /> : "never"}</dd>
      <dt>Service</dt>
      <dd>{robot.outOfService ? "out of service" : "in service"}</dd>
      {robot.errand && (
        <>
          <dt>Errand</dt>
          <dd>
            {robot.errand.kind}
            {robot.errand.worksiteId && (
              <>
                {" at "}
                <Id field="worksiteId" id={robot.errand.worksiteId} about={{ scene: robot.scene }} />
              </>
            )}
          </dd>
        </>
      )}
      {!robot.taskId && (
        <>
          <dt>Task</dt>
          <dd>none</dd>
        </>
      )}
    </dl>
  );
}

function RobotVerbs({ floor, robot }: { floor: Floor; robot: Robot }) {
  const isAt = (kind: string) => robot.errand?.kind === kind && robot.errand.state === "there";
  const stands = floor.tracks.stands(robot.robotId);
  const verb = (name: RobotVerb, label: string, done: boolean | undefined, whyNot: string | null, describe: string) => (
    <CommandButton
      key={name}
      small
      label={label}
      describe={describe}
      whyNot={whyNot}
      done={done}
      call={() => askRobot(robot.scene, robot.robotId, name)}
    />
  );
  const isStopped = robot.held || robot.error;
  return (
    <fieldset className="row floor-verbs" aria-label={`What ${robot.robotId} should do`}>
      {verb("hold", "Hold", robot.held && stands, robot.held ? "It is held already." : null, "Stop it where it is")}
      {verb(
        "release",
        "Release",
        !robot.held && !robot.paused && !robot.error,
        isStopped ? null : "It is not held.",
        "Let it go on",
      )}
      {verb("park", "Park", isAt("park"), null, "Send it to its park place")}
      {verb("charge", "Charge", isAt("charge"), null, "Send it to a charger")}
      {robot.outOfService
        ? verb("in-service", "In service", !robot.outOfService, null, "Give it work again")
        : verb("out-of-service", "Out of service", robot.outOfService, null, "Give it no more work")}
    </fieldset>
  );
}

/** What a person sees on the fork, where no sensor says it or a pallet was taken off by hand. */
function LoadSaid({ robot }: { robot: Robot }) {
  const must = robot.loadState === "unknown" || (robot.loadState === "loaded" && !robot.taskId);
  const say = (value: "empty" | "loaded") => setLoad(robot.scene, robot.robotId, value);
  return (
    <details className="floor-more" open={must || undefined}>
      <summary>Say what is on the fork</summary>
      <div className="row">
        {robot.loadState === "loaded" && (
          <CommandButton
            small
            label="Unloaded by hand"
            describe="A person has taken the pallet off its fork"
            call={() => askRobot(robot.scene, robot.robotId, "unloaded")}
            confirm={{
              title: `Is the fork of ${robot.robotId} empty?`,
              says: <p>Say so only after somebody has taken the pallet off.</p>,
              yes: "The pallet is off",
            }}
          />
        )}
        {robot.loadState !== "loaded" && <CommandButton small label="A pallet is on it" call={() => say("loaded")} />}
        {robot.loadState !== "empty" && (
          <CommandButton small label="It is empty" call={() => say("empty")} done={false} />
        )}
      </div>
    </details>
  );
}
