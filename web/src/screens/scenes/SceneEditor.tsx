/** Writing a scene's text: checked as one types, compared with what is saved, saved on purpose; Activate is another button. */
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { type Schemas, write } from "@/api/client";
import { go, Link } from "@/frame/router";
import { useList, useWhyNot } from "@/live/hooks";
import { CommandButton } from "@/parts/Command";
import { Diff } from "@/parts/Diff";
import { type Check, useCheck } from "./check";
import { difference } from "./difference";
import { Editor, type EditorHandle } from "./Editor";
import { Findings } from "./Findings";
import { lineOf } from "./lines";
import { sceneText } from "./text";

interface Props {
  /** Null for a scene that is not saved yet. */
  name: string | null;
  saved: Schemas["SceneShape"] | null;
  /** The text to begin with: what is saved. */
  start: string;
}

export function SceneEditor({ name, saved, start }: Props) {
  const [text, setText, since] = useDraft(name, start);
  const mayNot = useWhyNot("operator");
  const check = useCheck(text, mayNot === null);
  const editor = useRef<EditorHandle>(null);
  const marks = useMemo(() => marksOf(check), [check]);
  const change = useMemo(() => (saved ? difference(start, text) : ""), [saved, start, text]);
  const goTo = useCallback((line: number) => editor.current?.goTo(line), []);
  return (
    <section className="scenes-writing" aria-label="The scene's text">
      <div className="stack">
        <h2>{name === null ? "Its text" : "Text"}</h2>
        {since && (
          <p className="told wait" role="status">
            The scene was saved by somebody else while you were writing. The change below is against what is saved now.
          </p>
        )}
        <Editor
          ref={editor}
          value={text}
          onChange={setText}
          label={name === null ? "Text of the new scene, YAML or JSON" : `Text of ${name}, YAML or JSON`}
          marks={marks}
        />
      </div>
      <div className="stack">
        <h2>Check</h2>
        {mayNot ? <p className="soft">{mayNot}</p> : <Findings check={check} text={text} goTo={goTo} />}
        <SaveRow name={name} text={text} start={start} check={check} back={() => setText(start)} />
        {saved && (
          <>
            <h2>Change</h2>
            {change === "" ? (
              <p className="soft">This is what is saved.</p>
            ) : (
              <Diff text={change} label="What saving would change" />
            )}
          </>
        )}
      </div>
    </section>
  );
}

interface SaveProps {
  name: string | null;
  text: string;
  start: string;
  check: Check;
  back: () => void;
}

function SaveRow({ name, text, start, check, back }: SaveProps) {
  const scenes = useList("scenes");
  const called = name ?? check.found?.name ?? "";
  const taken = name === null && scenes.has(called);
  const whyNot = () => {
    if (name !== null && text === start) return "Nothing has changed since it was saved.";
    if (check.text !== text) return "The check of this text is not done yet.";
    if (!check.found?.ok) return "The text has problems; the list says which.";
    return taken ? `There is a scene called ${called} already: choose another name in the text.` : null;
  };
  return (
    <div className="row scenes-save">
      <CommandButton
        label="Save"
        needs="admin"
        tone="first"
        whyNot={whyNot()}
        done={text === start}
        call={() => write("put", "/api/v1/scenes/{name}", { path: { name: called }, body: text })}
        after={({ document }) => {
          forgetDraft(name);
          if (sceneText(document) === start) back();
          if (name === null) go(`/scenes/${encodeURIComponent(called)}`);
        }}
      />
      {text !== start && (
        <button type="button" className="button ghost" onClick={back}>
          {name === null ? "Start again" : "Back to what is saved"}
        </button>
      )}
      {taken && (
        <p className="tone-wait small">
          There is a scene called {called} already: choose another name in the text, or{" "}
          <Link to={`/scenes/${encodeURIComponent(called)}`}>open that one</Link>.
        </p>
      )}
    </div>
  );
}

function marksOf(check: Check): ReadonlyMap<number, "error" | "warning"> {
  const marks = new Map<number, "error" | "warning">();
  const add = (kind: "error" | "warning") => (problem: Schemas["ProblemShape"]) => {
    const line = lineOf(check.text ?? "", problem);
    if (line !== null) marks.set(line, kind);
  };
  check.found?.warnings.forEach(add("warning"));
  check.found?.problems.forEach(add("error"));
  return marks;
}

const keyOf = (name: string | null) => `beforehand-scene-${name ?? "+"}`;

function forgetDraft(name: string | null): void {
  sessionStorage.removeItem(keyOf(name));
}

/**
 * The text as this window has it; what is not saved is kept while the window lives. It follows what is saved until
 * somebody writes. The last part says that it was saved elsewhere meanwhile.
 */
function useDraft(name: string | null, start: string): [string, (text: string) => void, boolean] {
  const [text, setText] = useState(() => sessionStorage.getItem(keyOf(name)) ?? start);
  const [base, setBase] = useState(start);
  const [since, setSince] = useState(false);
  if (base !== start) {
    setBase(start);
    if (text === base) setText(start);
    else if (text.trim() === start.trim() || sessionStorage.getItem(keyOf(name)) === null) setText(start);
    else setSince(true);
  }
  useEffect(() => {
    if (text === start) forgetDraft(name);
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    if (text !== start) window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [text, start, name]);
  const set = useCallback(
    (next: string) => {
      setText(next);
      setSince((before) => before && next !== start);
      sessionStorage.setItem(keyOf(name), next);
    },
    [name, start],
  );
  return [text, set, since];
}
