/** What of the fleets stands still: holds, errors, silent robots, idle streams; each with its reason and its button. */
import { useEffect, useMemo, useRef } from "react";
import { get, type Schemas } from "@/api/client";
import { Link } from "@/frame/router";
import { useFetched, useList } from "@/live/hooks";
import { wayTo } from "@/parts/Ids";
import { State } from "@/parts/StateMark";
import { useSteady } from "@/parts/steady";
import { Ago } from "@/parts/time";
import { ReasonWithAdvice } from "./Advice";
import { byName, type Fleet, keyOf, type Robot, type Stream, stateOf, type Task } from "./model";
import "./floor.css";

interface Item {
  key: string;
  scene: string;
  /** Whom the reasons are asked for. */
  about: string;
  state: string;
  to: string;
  says?: string;
  lastSeen?: number | null;
}

const MOST = 20;
const AGAIN_MS = 4_000;

export default function Stuck() {
  const fresh = useStuck();
  const reasons = useReasons(fresh);
  const steady = useSteady(fresh, (item) => item.key);
  if (steady.items.length === 0) return null;
  return (
    <ul className="floor-stuck" {...steady.watch}>
      {steady.items.slice(0, MOST).map((item) => (
        <li key={item.key} className={steady.gone.has(item.key) ? "floor-gone" : undefined} data-stuck={item.about}>
          <Link to={item.to} className="row floor-stuck-title" data-step>
            <State state={item.state} />
            <strong>{item.about}</strong>
            {item.lastSeen ? (
              <span className="soft small">
                last seen <Ago at={item.lastSeen} />
              </span>
            ) : null}
          </Link>
          <Told item={item} reasons={reasons.get(`${item.scene} ${item.about}`) ?? []} />
        </li>
      ))}
      {steady.items.length > MOST && <li className="soft">And {steady.items.length - MOST} more.</li>}
    </ul>
  );
}

/** One that is over keeps what was told of it, and what became of its button, for as long as it is looked at. */
function Told({ item, reasons: fresh }: { item: Item; reasons: readonly Schemas["ReasonShape"][] }) {
  const kept = useRef(fresh);
  if (fresh.length > 0) kept.current = fresh;
  const reasons = kept.current;
  if (reasons.length === 0) return item.says ? <p>{item.says}</p> : null;
  return reasons.map((reason) => <ReasonWithAdvice key={reason.code} reason={reason} scene={item.scene} />);
}

function useStuck(): Item[] {
  const fleets = useList<Fleet>("fleets");
  const robots = useList<Robot>("robots");
  const tasks = useList<Task>("tasks");
  const streams = useList<Stream>("streams");
  return useMemo(
    () => [
      ...heldFleets(fleets),
      ...heldTasks(tasks),
      ...stoppedRobots(robots, tasks, fleets),
      ...idle(streams, tasks, fleets),
    ],
    [fleets, robots, tasks, streams],
  );
}

function heldFleets(fleets: ReadonlyMap<string, Fleet>): Item[] {
  return [...fleets.values()]
    .filter((fleet) => fleet.held)
    .map(({ scene, person }) => {
      const to = `/floor?scene=${encodeURIComponent(scene)}`;
      return { key: `fleet ${scene}`, scene, about: scene, state: person ? "held" : "error", to };
    });
}

function heldTasks(tasks: ReadonlyMap<string, Task>): Item[] {
  return [...tasks.values()]
    .filter((task) => ["held", "stale"].includes(task.status ?? ""))
    .map((task) => ({
      key: `task ${task.taskId}`,
      scene: task.scene,
      about: task.taskId,
      state: task.status ?? "held",
      says: task.says,
      to: wayTo("taskId", task.taskId, task) ?? "/floor",
    }));
}

/** Silent, blocked, in error, held by a person for itself. One whose task is told already is told only when silent. */
function stoppedRobots(
  robots: ReadonlyMap<string, Robot>,
  tasks: ReadonlyMap<string, Task>,
  fleets: ReadonlyMap<string, Fleet>,
): Item[] {
  const stopped = [...robots.values()].filter((robot) => {
    const state = stateOf(robot);
    const told = robot.taskId ? ["held", "stale"].includes(tasks.get(robot.taskId)?.status ?? "") : false;
    if (state === "offline") return true;
    if (state === "held") return robot.held && !fleets.get(robot.scene)?.person;
    return (state === "error" || state === "blocked") && !told;
  });
  return stopped
    .sort((one, other) => byName(one.robotId, other.robotId))
    .map((robot) => ({
      key: `robot ${keyOf(robot.scene, robot.robotId)}`,
      scene: robot.scene,
      about: robot.robotId,
      state: stateOf(robot),
      says: robot.says,
      lastSeen: robot.status === "offline" ? robot.lastSeenTsMs : null,
      to: wayTo("robotId", robot.robotId, robot) ?? "/floor",
    }));
}

/** Streams without a single task under way, in fleets that are not held as a whole. */
function idle(
  streams: ReadonlyMap<string, Stream>,
  tasks: ReadonlyMap<string, Task>,
  fleets: ReadonlyMap<string, Fleet>,
): Item[] {
  const busy = new Set([...tasks.values()].map((task) => keyOf(task.scene, task.streamId ?? "")));
  return [...streams.values()]
    .filter((stream) => !busy.has(keyOf(stream.scene, stream.streamId)) && !fleets.get(stream.scene)?.held)
    .map((stream) => ({
      key: `stream ${keyOf(stream.scene, stream.streamId)}`,
      scene: stream.scene,
      about: stream.streamId,
      state: "idle",
      to: wayTo("streamId", stream.streamId, stream) ?? "/scenes",
    }));
}

/** The reasons of whatever is stuck, by scene and name, asked for again when that changes and now and then. */
function useReasons(items: readonly Item[]): ReadonlyMap<string, Schemas["ReasonShape"][]> {
  const scenes = [...new Set(items.map((item) => item.scene))].sort().join("\n");
  const read = async (signal: AbortSignal) => {
    const asked = scenes.split("\n").map(async (scene) => {
      const told = (await get("/api/v1/fleet/why", { query: { scene }, signal })) as Schemas["ReasonShape"][];
      return told.map((reason) => ({ ...reason, scene }));
    });
    return (await Promise.all(asked)).flat();
  };
  const { value, again } = useFetched(scenes === "" ? null : `stuck ${scenes}`, read);
  const latest = useRef(again);
  latest.current = again;
  const keys = items.map((item) => `${item.key} ${item.state}`).join("\n");
  useEffect(() => {
    if (keys === "") return;
    latest.current();
    const timer = setInterval(() => latest.current(), AGAIN_MS);
    return () => clearInterval(timer);
  }, [keys]);
  return useMemo(() => {
    const found = new Map<string, Schemas["ReasonShape"][]>();
    for (const reason of value ?? []) {
      const key = `${reason.scene} ${reason.about}`;
      found.set(key, [...(found.get(key) ?? []), reason]);
    }
    return found;
  }, [value]);
}
