/** A plan file, YAML or JSON, chosen or dropped anywhere on the page: taken in for review, or every problem with its place. */
import { useEffect, useRef, useState } from "react";
import { Refusal, write } from "@/api/client";
import { go } from "@/frame/router";
import { useList, useWhyNot } from "@/live/hooks";
import { useCommand } from "@/parts/Command";
import { Refused } from "@/parts/Told";
import { bodyOf } from "./file";

interface Chosen {
  name: string;
  text: string;
}

/** What lies in it; a folder can be dropped like a file, and cannot be read. */
async function textOf(given: File): Promise<string> {
  try {
    return await given.text();
  } catch {
    throw new Refusal(0, { detail: "It cannot be read. Choose a single file, not a folder." });
  }
}

export function PlanFile() {
  const [file, setFile] = useState<Chosen | null>(null);
  const [over, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const command = useCommand();
  const whyNot = useWhyNot();
  const scenes = useList<{ name: string }>("scenes");
  const send = async (chosen: Pick<Chosen, "name">, read: () => Promise<string>, scene?: string) => {
    const made = await command.give(async () => {
      const text = await read();
      setFile({ name: chosen.name, text });
      return write("post", "/api/v1/plans", { ...bodyOf(text, scene), patienceMs: 30_000 });
    });
    if (made !== undefined) go(`/plans/${encodeURIComponent((made as { id: string }).id)}`);
  };
  const take = async (given: File | undefined) => {
    if (given === undefined || whyNot !== null) return;
    setFile({ name: given.name, text: "" });
    await send(given, () => textOf(given));
  };
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    const hold = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(event.type !== "dragleave" || event.relatedTarget !== null);
    };
    const drop = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(false);
      void latest.current(event.dataTransfer.files[0]);
    };
    window.addEventListener("dragover", hold);
    window.addEventListener("dragleave", hold);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragover", hold);
      window.removeEventListener("dragleave", hold);
      window.removeEventListener("drop", drop);
    };
  }, []);
  return (
    <section className="card padded stack" id="file" aria-labelledby="file-title">
      <h2 id="file-title">A plan file</h2>
      <div className="new-drop" data-over={over}>
        <p className="soft">Drop a plan in YAML or JSON anywhere on this page.</p>
        <button
          type="button"
          className="button"
          aria-disabled={whyNot !== null}
          title={whyNot ?? undefined}
          onClick={() => whyNot === null && input.current?.click()}
        >
          Choose a file
        </button>
        <input
          ref={input}
          className="hidden-text"
          type="file"
          tabIndex={-1}
          aria-label="A plan file"
          accept=".yaml,.yml,.json,application/json,application/yaml"
          onChange={(event) => {
            void take(event.target.files?.[0]);
            event.target.value = "";
          }}
        />
        {whyNot && <p className="soft small">{whyNot}</p>}
      </div>
      {file && command.stage === "asked" && (
        <p role="status" className="soft">
          {file.name} is being checked …
        </p>
      )}
      {file && command.refusal && (
        <div className="stack">
          <p>
            <strong>{file.name}</strong> was not taken in.
          </p>
          <Refused refusal={command.refusal} />
          {command.refusal.code === "scene.needed" && (
            <div className="row">
              {[...scenes.values()].map((scene) => (
                <button
                  type="button"
                  className="button small"
                  key={scene.name}
                  onClick={() => void send(file, async () => file.text, scene.name)}
                >
                  For {scene.name}
                </button>
              ))}
            </div>
          )}
        </div>
      )}
      {over && (
        <div className="new-over" aria-hidden="true">
          Let go to hand the plan in
        </div>
      )}
    </section>
  );
}
