/** The button that does what a reason advises, where the thing advised can be done. */
import type { ReactNode } from "react";
import { Link } from "@/frame/router";
import { useList, useLive } from "@/live/hooks";
import { CommandButton } from "@/parts/Command";
import { wayTo } from "@/parts/Ids";
import { type Reason, ReasonLine } from "@/parts/Told";
import { askFleet, askRobot, askTask, clearAll, type RobotVerb, setStream } from "./calls";
import { type Fleet, keyOf, type Robot, type Stream, type Task } from "./model";

type Told = Reason & { about?: string };

/** The verb for the robot a reason is about. */
const ROBOT_ADVICE: Readonly<Record<string, [RobotVerb, string]>> = {
  "robot.out_of_service": ["in-service", "Put it in service"],
  "robot.error": ["release", "Release it"],
  "robot.loaded": ["unloaded", "It is unloaded"],
  "robot.fork_unknown": ["unloaded", "Its fork is empty"],
  "robot.battery_low": ["charge", "Send it to charge"],
  "robot.battery_short": ["charge", "Send it to charge"],
  "robot.held": ["release", "Release it"],
};
const IN_SCENE = new Set([
  "robot.no_route",
  "robot.charging",
  "charger.no_route",
  "fleet.no_robots",
  "scene.no_charger",
  "scene.no_park",
  "stream.quota",
]);
const AT_PLACE = new Set(["worksite.suspect", "worksite.resting"]);

export function ReasonWithAdvice({ reason, scene }: { reason: Told; scene: string }) {
  return <ReasonLine reason={reason} action={<Advice reason={reason} scene={scene} />} />;
}

export function Advice({ reason, scene }: { reason: Told; scene: string }): ReactNode {
  const code = reason.code ?? "";
  const about = reason.about ?? "";
  const robots = useList<Robot>("robots");
  const tasks = useList<Task>("tasks");
  const task = tasks.get(about);
  const robot = robots.get(keyOf(scene, task?.robotId ?? about));
  const fleet = useList<Fleet>("fleets").get(scene);
  const advises = (verb: string) => reason.tryNext?.startsWith(verb) ?? false;
  const isClear = code === "fleet.held" || (code === "robot.held" && fleet?.person && !robot?.held);
  if (isClear || (code === "task.paused" && advises("Clear"))) return <ClearButton scene={scene} />;
  if (code === "fleet.frozen") return <Answer scene={scene} about={null} />;
  if (code === "task.paused" && robot && advises("Release"))
    return <RobotButton robot={robot} verb="release" label="Release it" />;
  if (task && ["held", "stale"].includes(task.status ?? "")) return <Answer scene={scene} about={about} />;
  if (code === "robot.busy" && robot?.taskId && reason.tryNext) return <HandBack scene={scene} id={robot.taskId} />;
  const [verb, label] = ROBOT_ADVICE[code] ?? [];
  if (verb && label && robot) return <RobotButton robot={robot} verb={verb} label={label} />;
  if (code === "stream.disabled") return <EnableButton scene={scene} id={about} />;
  return <Elsewhere code={code} about={about} scene={scene} />;
}

/** Where what is advised cannot be one press: the place where it is done. */
function Elsewhere({ code, about, scene }: { code: string; about: string; scene: string }) {
  if (IN_SCENE.has(code))
    return (
      <Link className="button small" to={`/scenes/${encodeURIComponent(scene)}`}>
        Open the scene
      </Link>
    );
  if (AT_PLACE.has(code))
    return (
      <Link className="button small" to={wayTo("worksiteId", about, { scene }) ?? "/floor"}>
        Say what lies at {about}
      </Link>
    );
  if (code === "stream.no_candidate")
    return (
      <Link className="button small" to={`/floor?scene=${encodeURIComponent(scene)}`}>
        Set a worksite on the floor
      </Link>
    );
  if (code === "stream.no_robot")
    return (
      <Link className="button small" to={wayTo("streamId", about, { scene }) ?? "/scenes"}>
        Look at the stream
      </Link>
    );
  return null;
}

export function RobotButton({ robot, verb, label }: { robot: Robot; verb: RobotVerb; label: string }) {
  return <CommandButton small label={label} call={() => askRobot(robot.scene, robot.robotId, verb)} />;
}

export function ClearButton({ scene }: { scene: string }) {
  const everything = useLive((snapshot) => snapshot.hold) !== null;
  const fleet = useList<Fleet>("fleets").get(scene);
  return (
    <CommandButton
      small
      label={everything ? "Clear everything" : "Clear the hold"}
      call={() => (everything ? clearAll() : askFleet(scene, "clear"))}
      done={fleet !== undefined && !fleet.held}
    />
  );
}

function HandBack({ scene, id }: { scene: string; id: string }) {
  return <CommandButton small label="Hand its task back" call={() => askTask(scene, id, "hand-back")} />;
}

function EnableButton({ scene, id }: { scene: string; id: string }) {
  const stream = useList<Stream>("streams").get(keyOf(scene, id));
  return (
    <CommandButton
      small
      label="Switch it on"
      call={() => setStream(scene, id, { enabled: true })}
      done={stream?.enabled === true}
    />
  );
}

interface Asked {
  id: string;
  owner?: string;
  about?: Record<string, unknown>;
}

/** To the decision that waits: the one about this task, or any of the fleet. */
function Answer({ scene, about }: { scene: string; about: string | null }) {
  const decisions = useList<Asked>("decisions");
  const asked = [...decisions.values()].find((decision) =>
    about === null ? decision.owner === `fleet:${scene}` : decision.about?.taskId === about,
  );
  if (asked === undefined) return null;
  return (
    <Link className="button small" to={`/inbox/${encodeURIComponent(asked.id)}`}>
      Answer it
    </Link>
  );
}
