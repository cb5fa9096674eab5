/** Streams and scenes: what is set up, what of it is live, and what each craft lets a person steer in it. */
import { Suspense } from "react";
import { CRAFTS, craftOf } from "@/crafts";
import { Link, usePlace } from "@/frame/router";
import { useList, useLive } from "@/live/hooks";
import { Empty, Loading } from "@/parts/Told";
import { Time } from "@/parts/time";
import { Counts, countsOf, type Head, LiveButtons, LiveState, WhyNotLive } from "./Live";
import { NewScene } from "./NewScene";
import "./scenes.css";

export default function Scenes() {
  const { query } = usePlace();
  return query.has("new") ? <NewScene /> : <Everything />;
}

function Everything() {
  const scenes = [...useList<Head>("scenes").values()].sort(liveFirst);
  const parts = CRAFTS.flatMap(({ name, sceneParts, sceneFiles }) =>
    [sceneParts, sceneFiles].flatMap((View, at) => (View ? [{ name: `${name} ${at}`, View }] : [])),
  );
  return (
    <>
      <header className="page-head">
        <h1 className="spread">Streams and scenes</h1>
        <Link to="/scenes?new=" className="button">
          New scene
        </Link>
      </header>
      <div className="stack scenes-page">
        <section className="stack" aria-labelledby="scenes-list">
          <h2 id="scenes-list">Scenes</h2>
          {scenes.length === 0 && (
            <Empty title="There is no scene yet.">
              <p>A scene says what plans work in: the places, the machines and where they stand.</p>
              <Link to="/scenes?new=" className="button first">
                Write a scene
              </Link>
            </Empty>
          )}
          <ul className="scenes-cards">
            {scenes.map((scene) => (
              <SceneCard key={scene.name} scene={scene} />
            ))}
          </ul>
        </section>
        {parts.map(({ name, View }) => (
          <Suspense key={name} fallback={<Loading what="what can be steered" />}>
            <View />
          </Suspense>
        ))}
      </div>
    </>
  );
}

function liveFirst(one: Head, other: Head): number {
  return Number(other.active) - Number(one.active) || one.name.localeCompare(other.name);
}

function SceneCard({ scene }: { scene: Head }) {
  const lists = useLive((snapshot) => snapshot.lists);
  return (
    <li className="card padded stack scenes-card">
      <div className="row">
        <h3 className="spread">
          <Link to={`/scenes/${encodeURIComponent(scene.name)}`} data-step title={scene.name}>
            {scene.name}
          </Link>
        </h3>
        <span className="chip" title={craftOf(scene.kind)?.name}>
          {scene.kind}
        </span>
      </div>
      <LiveState scene={scene} />
      <WhyNotLive scene={scene} />
      <Counts counts={countsOf(lists, scene.name)} />
      <p className="soft small">
        Saved <Time at={scene.savedAt} />
      </p>
      <LiveButtons scene={scene} small />
    </li>
  );
}
