/** What leads to a robot: whether it answers and since when, who has control of it, and what went wrong last. */
import { useEffect } from "react";
import { get } from "@/api/client";
import { useFetched } from "@/live/hooks";
import { State } from "@/parts/StateMark";
import { Loading, Refused } from "@/parts/Told";
import { Ago, Time } from "@/parts/time";

const AGAIN_MS = 3_000;
const OURS = "beforehand";

export function RobotLink({ scene, robotId }: { scene: string; robotId: string }) {
  const { value, refusal, again } = useFetched(
    `link ${scene} ${robotId}`,
    (signal) => get("/api/v1/robots/{robot_id}/link", { path: { robot_id: robotId }, query: { scene }, signal }),
    (event) => event.about.robotId === robotId,
  );
  // A link changes without an event about it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `again` is a new function every time and does the same
  useEffect(() => {
    const timer = setInterval(again, AGAIN_MS);
    return () => clearInterval(timer);
  }, [robotId]);
  return (
    <section className="stack floor-link" aria-labelledby="robot-link" data-answers={value?.answers}>
      <h3 id="robot-link">Link</h3>
      {refusal && <Refused refusal={refusal} />}
      {value === undefined && refusal === null && <Loading what="the link" />}
      {value && (
        <>
          <p className="row">
            <State
              state={LOOKS[String(value.answers)] ?? "pending"}
              word={WORDS[String(value.answers)] ?? "Not known"}
            />
            <span>
              {value.says}
              {value.sinceTsMs ? (
                <span className="soft">
                  {" "}
                  Since <Time at={value.sinceTsMs} />
                </span>
              ) : null}
            </span>
          </p>
          <dl className="floor-facts">
            <dt>Linked by</dt>
            <dd>
              {value.kind}
              {value.at && <span className="soft"> at {value.at}</span>}
            </dd>
            {value.control != null && (
              <>
                <dt>Control</dt>
                <dd>
                  {value.control || "nobody"}
                  {value.control === OURS && <span className="soft"> (this server)</span>}
                </dd>
              </>
            )}
            {value.trouble && (
              <>
                <dt>Last trouble</dt>
                <dd>
                  {value.trouble}
                  {value.troubleTsMs ? (
                    <span className="soft">
                      {" "}
                      <Ago at={value.troubleTsMs} />
                    </span>
                  ) : null}
                </dd>
              </>
            )}
          </dl>
        </>
      )}
    </section>
  );
}

const LOOKS: Readonly<Record<string, string>> = { true: "online", false: "offline" };
const WORDS: Readonly<Record<string, string>> = { true: "Answers", false: "Silent" };
