/** Recognition files and fork profiles: which are kept, which scenes name them, what is missing, and uploading one. */
import { useState } from "react";
import { get } from "@/api/client";
import { Link } from "@/frame/router";
import { useFetched } from "@/live/hooks";
import { Id } from "@/parts/Ids";
import { Mark, State } from "@/parts/StateMark";
import { Loading, Problems, Refused } from "@/parts/Told";
import { Time } from "@/parts/time";
import { Values } from "@/parts/Values";
import type { ScenePartsProps } from "../../craft";
import { type Line, linesOf, size, useFiles } from "./files";
import { Upload } from "./Upload";
import "./files.css";

export default function Files({ scene }: ScenePartsProps) {
  const { value, refusal } = useFiles();
  const lines = value ? linesOf(value.files, value.uses, scene) : [];
  const wrong = value?.uses.filter((use) => use.problems.length > 0 && (scene ?? use.scene) === use.scene) ?? [];
  if (scene !== undefined && lines.length === 0 && refusal === null) return null;
  return (
    <section className="stack files" aria-labelledby="files-list">
      <h2 id="files-list">Files</h2>
      <p className="soft">Recognition files tell a robot how to see a pallet; fork profiles say what a fork can do.</p>
      {refusal && <Refused refusal={refusal} />}
      {!value && !refusal && <Loading what="the files" />}
      {wrong.map((use) => (
        <div key={use.scene} className="told bad" role="status">
          <Mark state="problem" />
          <div className="stack">
            <p>
              What the check of {scene === undefined ? <Id field="sceneId" id={use.scene} /> : "this scene"} finds now:
            </p>
            <Problems problems={use.problems} />
          </div>
        </div>
      ))}
      {value && lines.length === 0 && <p className="soft">No file is kept yet, and no scene names one.</p>}
      {lines.length > 0 && (
        <ul className="card">
          {lines.map((line) => (
            <FileLine key={line.name} line={line} scene={scene} />
          ))}
        </ul>
      )}
      <Upload names={lines.filter((line) => !line.kept).map((line) => line.name)} kept={value?.files ?? []} />
    </section>
  );
}

function FileLine({ line, scene }: { line: Line; scene: string | undefined }) {
  const { name, kept } = line;
  const others = line.scenes.filter((one) => one !== scene);
  return (
    <li className="files-line" data-file={name} data-kept={kept !== undefined}>
      <div className="files-name">
        <code>{name}</code>
        {kept ? <span className="soft small">{kept.form}</span> : <State state="warning" word="Not kept" />}
      </div>
      <p className="small files-facts">
        {kept ? (
          <>
            {size(kept.bytes)}, saved <Time at={kept.savedAt} />{" "}
            <code className="soft" title={kept.sha256}>
              {kept.sha256.slice(0, 12)}
            </code>
          </>
        ) : (
          <span className="soft">Robots are told the name as it is; upload it to have it checked.</span>
        )}
      </p>
      <p className="small row">
        {line.scenes.length === 0 && <span className="soft">No scene names it.</span>}
        {others.length > 0 && <span className="soft">{scene === undefined ? "Named by" : "Also named by"}</span>}
        {others.map((one) => (
          <Link key={one} to={`/scenes/${encodeURIComponent(one)}`}>
            {one}
          </Link>
        ))}
      </p>
      {kept && <Content name={name} version={kept.sha256} />}
    </li>
  );
}

function Content({ name, version }: { name: string; version: string }) {
  const [open, setOpen] = useState(false);
  const [folder = "", rest = ""] = name.split("/");
  const read = useFetched(open ? `file ${name} ${version}` : null, (signal) =>
    get("/api/v1/files/{folder}/{name}", { path: { folder, name: rest }, signal }),
  );
  return (
    <details className="files-content" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        What is in it<span className="hidden-text"> {name}</span>
      </summary>
      {read.refusal && <Refused refusal={read.refusal} />}
      {read.value && <Values of={read.value.document as Record<string, unknown>} />}
    </details>
  );
}
