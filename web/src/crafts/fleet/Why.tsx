/** Why not? The server's reasons for a robot, task or stream, word for word, each with the button that follows it. */
import { useEffect } from "react";
import { get, type Schemas } from "@/api/client";
import { useFetched } from "@/live/hooks";
import { useSteady } from "@/parts/steady";
import { Loading, Refused } from "@/parts/Told";
import { ReasonWithAdvice } from "./Advice";

type Kind = "robots" | "tasks" | "streams";
const PATHS = {
  robots: ["/api/v1/robots/{robot_id}/why", "robot_id"],
  tasks: ["/api/v1/tasks/{task_id}/why", "task_id"],
  streams: ["/api/v1/streams/{stream_id}/why", "stream_id"],
} as const;
const AGAIN_MS = 3_000;
const OF_ALL = new Set(["fleetHeld", "fleetCleared", "everythingHeld", "everythingCleared", "streamUpdated"]);

export function Why({ kind, id, scene }: { kind: Kind; id: string; scene: string }) {
  const [path, field] = PATHS[kind];
  const read = (signal: AbortSignal) =>
    get(path as "/api/v1/robots/{robot_id}/why", {
      path: { [field]: id } as { robot_id: string },
      query: { scene },
      signal,
    });
  const { value, refusal, again } = useFetched(
    `why ${kind} ${scene} ${id}`,
    read,
    (event) => OF_ALL.has(event.kind) || Object.values(event.about).includes(id),
  );
  // What a robot waits for may change without an event about it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `again` is a new function every time and does the same
  useEffect(() => {
    const timer = setInterval(again, AGAIN_MS);
    return () => clearInterval(timer);
  }, [id]);
  return (
    <section className="stack floor-why" aria-labelledby={`why-${kind}`}>
      <h3 id={`why-${kind}`}>Why not?</h3>
      {refusal && <Refused refusal={refusal} />}
      {value === undefined && refusal === null && <Loading what="the reasons" />}
      {value && <Reasons reasons={value as Schemas["ReasonShape"][]} scene={scene} />}
    </section>
  );
}

function Reasons({ reasons, scene }: { reasons: readonly Schemas["ReasonShape"][]; scene: string }) {
  const steady = useSteady(reasons, (reason) => `${reason.code} ${reason.about}`);
  return (
    <ul className="stack floor-reasons" {...steady.watch}>
      {steady.items.map((reason) => {
        const key = `${reason.code} ${reason.about}`;
        return (
          <li key={key} className={steady.gone.has(key) ? "floor-gone" : undefined}>
            <ReasonWithAdvice reason={reason} scene={scene} />
          </li>
        );
      })}
      {steady.items.length === 0 && <li className="soft">Nothing keeps it.</li>}
    </ul>
  );
}
