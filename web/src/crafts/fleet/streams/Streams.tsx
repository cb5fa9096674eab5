/** The streams of the live fleets: each with its candidates now, or why there are none. One is opened in the drawer. */
import { useMemo } from "react";
import { goWith, Link, usePlace, useQuery } from "@/frame/router";
import { useList } from "@/live/hooks";
import { State } from "@/parts/StateMark";
import { useSteady } from "@/parts/steady";
import { Empty } from "@/parts/Told";
import { Ago } from "@/parts/time";
import type { ScenePartsProps } from "../../craft";
import { StreamDrawer } from "./StreamDrawer";
import { keyOf, labelOf, type Stream, stateOf, useTrial } from "./stream";
import "./streams.css";

export default function Streams({ scene }: ScenePartsProps) {
  const all = useList<Stream>("streams");
  const fresh = useMemo(
    () =>
      [...all.values()]
        .filter((stream) => scene === undefined || stream.scene === scene)
        .sort(
          (one, other) =>
            (one.scene ?? "").localeCompare(other.scene ?? "") || (other.priority ?? 0) - (one.priority ?? 0),
        ),
    [all, scene],
  );
  const steady = useSteady(fresh, keyOf);
  const [chosen] = useQuery("stream");
  const within = usePlace().query.get("scene");
  const open = fresh.find((stream) => stream.streamId === chosen && (!within || stream.scene === within));
  return (
    <section className="stack" aria-labelledby="streams-list">
      <h2 id="streams-list">Streams</h2>
      {steady.waiting > 0 && (
        <button type="button" className="button small" onClick={steady.show}>
          Show new ones: {steady.waiting}
        </button>
      )}
      {fresh.length === 0 ? (
        <Empty title="No live scene has a stream.">
          <p>A stream makes transport tasks by itself. It stands in a fleet's scene, under streams.</p>
          <Link to="/scenes?new=fleet" className="button">
            Write a fleet's scene
          </Link>
        </Empty>
      ) : (
        <ul className="card streams" {...steady.watch}>
          {steady.items.map((stream) => (
            <StreamLine key={keyOf(stream)} stream={stream} open={open === stream} named={scene === undefined} />
          ))}
        </ul>
      )}
      {open && <StreamDrawer key={keyOf(open)} stream={open} onClose={() => goWith({ stream: null, scene: null })} />}
      {chosen && !open && fresh.length > 0 && (
        <p className="told wait" role="status">
          No live scene has a stream called {chosen}.
        </p>
      )}
    </section>
  );
}

function StreamLine({ stream, open, named }: { stream: Stream; open: boolean; named: boolean }) {
  const trial = useTrial(stream, 3_000);
  const count = trial.value?.candidates.length;
  const reason = trial.value?.reasons[0];
  return (
    <li className={open ? "streams-line open" : "streams-line"}>
      <button
        type="button"
        className="streams-open"
        data-step
        aria-expanded={open}
        title={labelOf(stream)}
        onClick={() =>
          goWith({ stream: stream.streamId, scene: named ? (stream.scene ?? null) : null }, { replace: false })
        }
      >
        <strong>{labelOf(stream)}</strong>
        <span className="soft small mono">{stream.streamId}</span>
      </button>
      <State state={stateOf(stream)} word={stream.enabled ? "Enabled" : "Off"} />
      <span className="small streams-facts">
        {named && <Link to={`/scenes/${encodeURIComponent(stream.scene ?? "")}`}>{stream.scene}</Link>}
        <span>Priority {stream.priority}</span>
        <span>
          Tasks: {stream.tasksCompleted} of {stream.tasksCreated} done
        </span>
        {stream.lastTaskTsMs ? (
          <span className="soft">
            Last <Ago at={stream.lastTaskTsMs} />
          </span>
        ) : null}
      </span>
      <div className="streams-now">
        {count !== undefined && count > 0 && <span className="chip">Candidates: {count}</span>}
        {reason && <p className="small soft">{reason.says}</p>}
      </div>
    </li>
  );
}
