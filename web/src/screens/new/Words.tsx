/** Say what you want: the words are read as they are typed, shown as chips to correct, and then planned. */
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { write } from "@/api/client";
import { craftOf } from "@/crafts";
import { go, goWith, usePlace } from "@/frame/router";
import { useWhyNot } from "@/live/hooks";
import { useCommand } from "@/parts/Command";
import { Empty, Loading, Refused } from "@/parts/Told";
import { Chips } from "./Chips";
import { exampleFor } from "./examples";
import { renamed, type Step } from "./intent";
import { ModelReads } from "./ModelReads";
import { NotUnderstood } from "./NotUnderstood";
import {
  best,
  NO_READING,
  type Outcome,
  planning,
  type Reading,
  useCorrected,
  useReadings,
  useScenes,
  useSettled,
} from "./reading";
import { Scenes } from "./Scenes";

/** A correction belongs to the words and the scene it was made for. */
interface Correction {
  text: string;
  scene: string;
  steps: readonly Step[];
}

interface ReadByModel {
  text: string;
  scene: string;
  reading: Reading;
}

export function Words() {
  const { query } = usePlace();
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(query.get("text") ?? "");
  const settled = useSettled(text, 300).trim();
  const asked = query.get("scene");
  const rows = useScenes(asked);
  const names = rows.map((row) => row.name);
  const whyNot = useWhyNot();
  const outcomes = useReadings(settled, names, whyNot === null);
  const plannable = outcomes ? planning(outcomes, names) : names;
  const scene = asked !== null && names.includes(asked) ? asked : outcomes ? best(outcomes, names) : null;
  const [correction, setCorrection] = useState<Correction | null>(null);
  const [byModel, setByModel] = useState<ReadByModel | null>(null);
  const mine = correction?.text === settled && correction.scene === scene ? correction : null;
  const again = useCorrected(mine?.scene ?? null, mine?.steps ?? null);
  const modelRead = byModel?.text === settled && byModel.scene === scene ? byModel.reading : null;
  const told: Outcome | undefined = modelRead ? { reading: modelRead } : scene ? outcomes?.[scene] : undefined;
  const reading = again?.reading ?? told?.reading;
  const steps = mine?.steps ?? ((told?.reading?.intent.steps ?? []) as Step[]);
  const blind = told?.refusal?.code === NO_READING;
  const command = useCommand();
  /** The words that Enter was pressed for before they were read. */
  const [early, setEarly] = useState<string | null>(null);

  useEffect(() => {
    if ((query.get("text") ?? "") !== settled) goWith({ text: settled, draft: null });
  }, [settled, query]);

  useEffect(() => field.current?.focus({ preventScroll: true }), []);

  const isRead = text.trim() === settled && settled !== "" && told !== undefined;
  const cannot =
    whyNot ??
    (text.trim() === ""
      ? "Say what you want first."
      : !isRead
        ? "The words are being read."
        : mine && again?.refusal
          ? again.refusal.message
          : !blind && told?.refusal
            ? told.refusal.message
            : null);
  const plan = async () => {
    setEarly(whyNot === null && !isRead ? text.trim() : null);
    if (cannot !== null || command.stage === "asked" || scene === null) return;
    const intent = mine || modelRead ? { intent: { steps } } : { text: settled };
    const made = await command.give(() =>
      write("post", "/api/v1/plans", { body: { scene, ...intent }, patienceMs: 20_000 }),
    );
    if (made !== undefined) go(`/plans/${encodeURIComponent((made as { id: string }).id)}`);
  };
  const latest = useRef(plan);
  latest.current = plan;
  const isDue = isRead && early === settled;
  useEffect(() => {
    if (isDue) void latest.current();
  }, [isDue]);
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void plan();
  };
  const replace = (was: string, name: string) => {
    setText(renamed(text, was, name));
    field.current?.focus();
  };
  const kind = rows.find((row) => row.name === scene)?.kind ?? "";

  if (rows.length === 0) return <NoScenes />;
  return (
    <section className="card padded stack new-words" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>
        <label htmlFor={id}>What do you want?</label>
      </h2>
      <textarea
        id={id}
        ref={field}
        data-search
        className="textarea new-text"
        rows={2}
        maxLength={10_000}
        value={text}
        placeholder={exampleFor(rows)}
        aria-describedby={`${id}-help`}
        onChange={(event) => {
          setText(event.target.value);
          setEarly(null);
          command.forget();
        }}
        onKeyDown={press}
      />
      <p id={`${id}-help`} className="soft small">
        Enter plans it. A plan only waits for your review: nothing moves before you start it.
      </p>
      <Scenes
        rows={rows.filter((row) => plannable.includes(row.name))}
        outcomes={outcomes}
        chosen={scene}
        isAsked={asked !== null}
        onChoose={(name) => goWith({ scene: name })}
      />
      <div className="stack new-read" aria-live="polite">
        {settled !== "" && told === undefined && whyNot === null && <Loading what="your words" />}
        {(reading || mine) && (
          <Chips
            key={`${scene} ${settled}`}
            steps={steps}
            told={reading}
            problems={again?.refusal?.problems ?? []}
            isCorrected={mine !== null}
            onChange={(next) => scene && setCorrection({ text: settled, scene, steps: next })}
            onReset={() => setCorrection(null)}
          />
        )}
        {mine && again?.refusal && <Refused refusal={again.refusal} />}
        {!mine && !blind && told?.refusal && <NotUnderstood refusal={told.refusal} onReplace={replace} />}
        {blind && <p className="soft">{told?.refusal?.message}</p>}
        {!mine && told?.refusal && scene && craftOf(kind)?.modelReads && (
          <ModelReads
            text={settled}
            scene={scene}
            onRead={(read) => setByModel({ text: settled, scene, reading: read })}
          />
        )}
      </div>
      <div className="row">
        <button
          type="button"
          className="button first"
          aria-disabled={cannot !== null || command.stage === "asked"}
          title={cannot ?? undefined}
          aria-describedby={cannot ? `${id}-why` : undefined}
          onClick={() => void plan()}
        >
          {command.stage === "asked" || (early !== null && early === text.trim()) ? "Planning …" : "Plan"}
        </button>
        {cannot !== null && (
          <span id={`${id}-why`} className={whyNot ? "soft small" : "hidden-text"}>
            {cannot}
          </span>
        )}
      </div>
      {command.refusal && <Refused refusal={command.refusal} />}
    </section>
  );
}

function NoScenes() {
  return (
    <Empty title="No scene is live, so there is nothing words could be about.">
      <button type="button" className="button first" onClick={() => go("/scenes")}>
        Make a scene live
      </button>
    </Empty>
  );
}
