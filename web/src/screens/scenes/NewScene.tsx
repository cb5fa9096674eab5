/** A new scene: from nothing, or as a copy of one there is. Its name stands in its text. */
import { get } from "@/api/client";
import { CRAFTS } from "@/crafts";
import { goWith, Link, useQuery } from "@/frame/router";
import { useFetched, useList } from "@/live/hooks";
import { Loading, Refused } from "@/parts/Told";
import type { Head } from "./Live";
import { SceneEditor } from "./SceneEditor";
import { sceneText } from "./text";

export function NewScene() {
  const [from] = useQuery("new");
  const scenes = [...useList<Head>("scenes").values()];
  const kinds = [...new Set(CRAFTS.flatMap((craft) => craft.sceneKind ?? []))];
  const isCopy = from?.startsWith("copy:") ?? false;
  const copied = isCopy ? (from ?? "").slice(5) : null;
  const read = useFetched(copied && `copy ${copied}`, (signal) =>
    get("/api/v1/scenes/{name}", { path: { name: copied ?? "" }, signal }),
  );
  const kind = from && !isCopy ? from : (kinds[0] ?? "");
  const start = copied === null ? `kind: ${kind}\nname: \n` : read.value && sceneText(asNew(read.value.document));
  return (
    <>
      <header className="page-head">
        <h1 className="spread">New scene</h1>
        <Link to="/scenes" className="button ghost">
          All scenes
        </Link>
      </header>
      <div className="field scenes-from">
        <label htmlFor="scenes-from">Start from</label>
        <select
          id="scenes-from"
          className="select"
          value={from || kind}
          onChange={(event) => goWith({ new: event.target.value })}
        >
          <optgroup label="Nothing but the kind">
            {kinds.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </optgroup>
          <optgroup label="A copy of">
            {scenes.map((scene) => (
              <option key={scene.name} value={`copy:${scene.name}`}>
                {scene.name}
              </option>
            ))}
          </optgroup>
        </select>
      </div>
      {read.refusal && <Refused refusal={read.refusal} />}
      {start === undefined ? (
        !read.refusal && <Loading what="the scene" />
      ) : (
        <SceneEditor key={from ?? ""} name={null} saved={null} start={start} />
      )}
    </>
  );
}

function asNew(document: Record<string, unknown>): Record<string, unknown> {
  return { ...document, name: `${document.name}_copy` };
}
