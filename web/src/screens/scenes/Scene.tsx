/** One scene: its text, whether it is live, its map, and what can be steered in it. */
import { Suspense } from "react";
import { get } from "@/api/client";
import { craftOf } from "@/crafts";
import { Link } from "@/frame/router";
import { useFetched, useList } from "@/live/hooks";
import { Empty, Loading, Refused } from "@/parts/Told";
import { Time } from "@/parts/time";
import { type Head, LiveButtons, LiveState, WhyNotLive } from "./Live";
import { SceneEditor } from "./SceneEditor";
import { sceneText } from "./text";
import "./scenes.css";

export default function Scene({ named }: { named: Record<string, string> }) {
  const name = named.name ?? "";
  const head = useList<Head>("scenes").get(name);
  const read = useFetched(
    `scene ${name}`,
    (signal) => get("/api/v1/scenes/{name}", { path: { name }, signal }),
    (event) => event.kind.startsWith("scene") && event.scene === name,
  );
  const scene = head ?? read.value;
  const craft = scene && craftOf(scene.kind);
  const Parts = craft?.sceneParts;
  const Files = craft?.sceneFiles;
  const Small = craft?.sceneMap;
  if (read.refusal?.status === 404) {
    return (
      <>
        <h1 className="hidden-text">Scene</h1>
        <Empty title={read.refusal.message}>
          <Link to="/scenes" className="button">
            All scenes
          </Link>
        </Empty>
      </>
    );
  }
  return (
    <div className="stack scenes-page">
      <header className="page-head">
        <div className="spread stack scenes-title">
          <p className="small">
            <Link to="/scenes" className="target">
              Streams and scenes
            </Link>
          </p>
          <div className="row">
            <h1>{name}</h1>
            {scene && <span className="chip">{scene.kind}</span>}
            {scene && <LiveState scene={scene} />}
          </div>
          {scene && (
            <p className="soft small">
              Saved <Time at={scene.savedAt} />
            </p>
          )}
        </div>
        {scene && <LiveButtons scene={scene} />}
      </header>
      {scene && <WhyNotLive scene={scene} />}
      {scene?.active && scene.live && scene.changed && (
        <p className="told wait" role="status">
          What is saved is not what is live: the scene goes on as it was when it was made live, until it is activated
          again.
        </p>
      )}
      {read.refusal && <Refused refusal={read.refusal} />}
      {read.value ? (
        <SceneEditor name={name} saved={read.value} start={sceneText(read.value.document)} />
      ) : (
        !read.refusal && <Loading what="the scene" />
      )}
      {scene?.active && Parts && (
        <Suspense fallback={<Loading what="what can be steered" />}>
          <Parts scene={name} />
        </Suspense>
      )}
      {Files && (
        <Suspense fallback={<Loading what="the files" />}>
          <Files scene={name} />
        </Suspense>
      )}
      {scene?.active && Small && read.value && (
        <section className="stack" aria-label="Map">
          <h2>Map</h2>
          <Suspense fallback={<Loading what="the map" />}>
            <Small scene={read.value} />
          </Suspense>
        </section>
      )}
    </div>
  );
}
