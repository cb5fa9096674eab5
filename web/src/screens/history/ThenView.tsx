/** The state as it was: counts, what ran and waited, and each scene on its craft's map, or as a list. */
import { Suspense } from "react";
import { get, type Schemas } from "@/api/client";
import { craftOf } from "@/crafts";
import { Link } from "@/frame/router";
import { useFetched } from "@/live/hooks";
import type { Row } from "@/live/store";
import { inWords } from "@/parts/Form";
import { State } from "@/parts/StateMark";
import { Loading } from "@/parts/Told";
import { ThenList } from "./ThenList";
import type { Then } from "./then";

const OVER = new Set(["completed", "partial", "failed", "cancelled"]);

interface Props {
  then: Then;
  ts: string | undefined;
  /** The one scene to show; null for all. */
  only: string | null;
}

export function ThenView({ then, ts, only }: Props) {
  const { scenes = [], runs = [], decisions = [], ...rest } = then.lists;
  const live = scenes.filter((scene) => scene.active);
  const going = runs.filter((run) => !OVER.has(String(run.status)));
  return (
    <section className="stack" aria-labelledby="replay-then" data-at={then.at}>
      <h2 id="replay-then">As it was after event {then.at}</h2>
      <p className="row small">
        {then.hold && <State state="held" word="Everything held" />}
        <span className="chip">Live scenes: {live.length}</span>
        <span className="chip">Runs going on: {going.length}</span>
        <span className="chip">Decisions waiting: {decisions.length}</span>
        {Object.entries(rest)
          .filter(([, rows]) => rows.length > 0)
          .map(([name, rows]) => (
            <span key={name} className="chip">
              {inWords(name)}: {rows.length}
            </span>
          ))}
      </p>
      {going.length > 0 && (
        <Short
          title="Runs"
          rows={going.map((run) => ({
            key: String(run.runId),
            state: run.paused ? "paused" : String(run.status),
            says: String(run.name ?? run.runId),
            to: `/runs/${encodeURIComponent(String(run.runId))}`,
          }))}
        />
      )}
      {decisions.length > 0 && (
        <Short
          title="Decisions waiting"
          rows={decisions.map((decision) => ({
            key: String(decision.id),
            state: "waiting",
            says: String(decision.title),
            to: `/inbox/${encodeURIComponent(String(decision.id))}`,
          }))}
        />
      )}
      {live
        .filter((scene) => only === null || scene.name === only)
        .map((scene) => (
          <SceneThen key={String(scene.name)} scene={scene} lists={rest} ts={ts} />
        ))}
      {live.length === 0 && <p className="soft">No scene was live.</p>}
    </section>
  );
}

interface ShortRow {
  key: string;
  state: string;
  says: string;
  to: string;
}

function Short({ title, rows }: { title: string; rows: readonly ShortRow[] }) {
  return (
    <div className="stack">
      <h3>{title}</h3>
      <ul className="card replay-short">
        {rows.map((row) => (
          <li key={row.key} className="row">
            <State state={row.state} />
            <Link to={row.to}>{row.says}</Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

function SceneThen({ scene, lists, ts }: { scene: Row; lists: Then["lists"]; ts: string | undefined }) {
  const name = String(scene.name);
  const own = Object.fromEntries(
    Object.entries(lists)
      .map(([list, rows]): [string, readonly Row[]] => [list, rows.filter((row) => row.scene === name)])
      .filter(([, rows]) => rows.length > 0),
  );
  const Drawn = craftOf(String(scene.kind))?.pastMap;
  const read = useFetched<Schemas["SceneShape"]>(Drawn ? `then ${name}` : null, (signal) =>
    get("/api/v1/scenes/{name}", { path: { name }, signal }),
  );
  const later = ts !== undefined && read.value && read.value.savedAt > ts;
  return (
    <section className="stack" aria-label={name}>
      <h3>
        <Link to={`/scenes/${encodeURIComponent(name)}`}>{name}</Link>
      </h3>
      {later && <p className="soft small">The map is the one that was saved later; it may have been another then.</p>}
      {Drawn && read.value && (
        <Suspense fallback={<Loading what="the map" />}>
          <Drawn scene={read.value} lists={own} />
        </Suspense>
      )}
      {(!Drawn || read.refusal) && <ThenList lists={own} />}
    </section>
  );
}
