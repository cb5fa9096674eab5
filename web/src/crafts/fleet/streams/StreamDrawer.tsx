/** One stream: its switch and its priority, what it would do now or with other settings, and what it is made of. */
import { useId, useState } from "react";
import { write } from "@/api/client";
import { Drawer } from "@/frame/Drawer";
import { Link } from "@/frame/router";
import { CommandButton } from "@/parts/Command";
import { Id } from "@/parts/Ids";
import { State } from "@/parts/StateMark";
import { ReasonLine, Refused } from "@/parts/Told";
import { For } from "@/parts/time";
import { Values } from "@/parts/Values";
import { ReasonWithAdvice } from "../Advice";
import { DryRun } from "./DryRun";
import { labelOf, type Settings, type Stream, stateOf, type Tried, useTrial } from "./stream";

export function StreamDrawer({ stream, onClose }: { stream: Stream; onClose: () => void }) {
  const trial = useTrial(stream, 800);
  return (
    <Drawer title={labelOf(stream)} onClose={onClose}>
      <p className="row">
        <State state={stateOf(stream)} word={stream.enabled ? "Enabled" : "Off"} />
        <span className="mono soft">{stream.streamId}</span>
        <Link to={`/scenes/${encodeURIComponent(stream.scene ?? "")}`}>{stream.scene}</Link>
      </p>
      <Switch stream={stream} />
      <Priority stream={stream} />
      <section className="stack" aria-labelledby="stream-now">
        <h3 id="stream-now">Now</h3>
        {trial.refusal && <Refused refusal={trial.refusal} />}
        <Now stream={stream} trial={trial} />
      </section>
      <DryRun stream={stream} />
      <section className="stack" aria-labelledby="stream-made">
        <h3 id="stream-made">What it is made of</h3>
        <Values
          of={{ kind: stream.kind, quota: stream.quota, ...stream.params }}
          names={{ pickGroup: "Picks at", dropGroup: "Drops at" }}
        />
      </section>
    </Drawer>
  );
}

function set(stream: Stream, settings: Settings): Promise<Stream> {
  return write("patch", "/api/v1/streams/{stream_id}", {
    path: { stream_id: stream.streamId },
    query: { scene: stream.scene },
    body: settings,
  });
}

function Switch({ stream }: { stream: Stream }) {
  return (
    <div className="row">
      {/* One button each way, so that what became of the last press stays beside it. */}
      <CommandButton
        label={stream.enabled ? "Disable" : "Enable"}
        tone={stream.enabled ? "" : "first"}
        call={() => set(stream, { enabled: !stream.enabled })}
      />
    </div>
  );
}

function Priority({ stream }: { stream: Stream }) {
  const [text, setText] = useState<string | null>(null);
  const id = useId();
  const value = Number(text ?? stream.priority);
  const whyNot = () => {
    if (text === null || value === stream.priority) return "This is its priority now.";
    return text.trim() === "" || !Number.isFinite(value) ? "A priority is a number." : null;
  };
  return (
    <div className="field">
      <label htmlFor={id}>Priority</label>
      <div className="row">
        <input
          id={id}
          className="input streams-number"
          type="number"
          step="any"
          value={text ?? String(stream.priority)}
          onChange={(event) => setText(event.target.value)}
        />
        <CommandButton
          label="Set"
          whyNot={whyNot()}
          done={text === null || value === stream.priority}
          call={() => set(stream, { priority: value })}
        />
      </div>
      <p className="soft small">Of two streams that want the same robot, the one with the higher number gets it.</p>
    </div>
  );
}

const SHOWN = 12;

function Now({ stream, trial }: { stream: Stream; trial: Tried }) {
  const candidates = trial.value?.candidates ?? [];
  const reasons = trial.value?.reasons ?? [];
  return (
    <>
      {trial.value && (
        <p>{candidates.length === 0 ? "It has no candidate now." : `Candidates now: ${candidates.length}`}</p>
      )}
      {candidates.length > 0 && (
        <ul className="streams-candidates">
          {candidates.slice(0, SHOWN).map((one) => (
            <li key={`${one.sourceId} ${one.targetId}`} className="row small">
              <Id field="worksiteId" id={one.sourceId} about={stream} /> to{" "}
              <Id field="worksiteId" id={one.targetId} about={stream} />
              {one.sinceTsMs ? (
                <span className="soft">
                  waits for <For since={one.sinceTsMs} />
                </span>
              ) : null}
            </li>
          ))}
        </ul>
      )}
      {candidates.length > SHOWN && <p className="soft small">And {candidates.length - SHOWN} more.</p>}
      {reasons.length > 0 && (
        <ul className="stack streams-reasons">
          {reasons.map((reason, index) => (
            <li key={index}>
              {reason.code.startsWith("robot.") && <Id field="robotId" id={reason.about} about={stream} />}
              {reason.code === "stream.no_robot" ? (
                <ReasonLine reason={reason} />
              ) : (
                <ReasonWithAdvice reason={reason} scene={stream.scene} />
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
