/** Whether a scene is live, and the two ways to change that: each says first what it would change, and asks. */
import { ask, get, type Schemas, write } from "@/api/client";
import { useFetched, useLive } from "@/live/hooks";
import { isOver } from "@/live/rows";
import type { Snapshot } from "@/live/store";
import { CommandButton, useReadFirst } from "@/parts/Command";
import { Diff } from "@/parts/Diff";
import { inWords } from "@/parts/Form";
import { State } from "@/parts/StateMark";
import { ReasonLine, Refused } from "@/parts/Told";
import { difference } from "./difference";
import { sceneText } from "./text";

export type Head = Schemas["SceneHeadShape"];

export function LiveState({ scene }: { scene: Head }) {
  if (!scene.active) return <State state="idle" word="Not live" />;
  if (!scene.live) return <State state="error" word="Active, not live" />;
  return (
    <span className="row">
      <State state="online" word="Live" />
      {scene.changed && <State state="warning" word="Saved since, not yet active" />}
    </span>
  );
}

/** Why a scene that should be live is not. */
export function WhyNotLive({ scene }: { scene: Head }) {
  if (!scene.reason) return null;
  return (
    <div className="told bad" role="status">
      <ReasonLine reason={scene.reason} />
    </div>
  );
}

export function LiveButtons({ scene, small }: { scene: Head; small?: boolean }) {
  const { name } = scene;
  const isSaved = scene.active && scene.live && !scene.changed;
  return (
    <span className="row">
      <CommandButton
        label={scene.active && !scene.live ? "Try again" : scene.changed ? "Activate again" : "Activate"}
        needs="admin"
        tone={isSaved ? "" : "first"}
        small={small}
        whyNot={isSaved ? "What is saved is live already." : null}
        done={isSaved}
        call={() => write("post", "/api/v1/scenes/{name}/activate", { path: { name }, patienceMs: 15_000 })}
        confirm={{ title: `Activate ${name}?`, says: <WouldActivate scene={scene} />, yes: "Activate" }}
      />
      <CommandButton
        label="Deactivate"
        needs="admin"
        small={small}
        whyNot={scene.active ? null : "It is not live."}
        done={!scene.active}
        call={() => write("post", "/api/v1/scenes/{name}/deactivate", { path: { name }, patienceMs: 15_000 })}
        confirm={{ title: `Deactivate ${name}?`, says: <WouldRest name={name} />, yes: "Deactivate" }}
      />
    </span>
  );
}

function WouldActivate({ scene }: { scene: Head }) {
  const read = useFetched(`would ${scene.name} ${scene.savedAt}`, async (signal) => {
    const { document } = await get("/api/v1/scenes/{name}", { path: { name: scene.name }, signal });
    const found = await ask("/api/v1/scenes/check", { body: document, signal });
    const live = scene.active && scene.live ? await liveDocument(scene.name, signal) : null;
    return { found, change: live && difference(sceneText(live), sceneText(document)) };
  });
  useReadFirst(read.value !== undefined || read.refusal !== null);
  return (
    <div className="stack">
      <p>
        {scene.active && scene.live
          ? "The live scene goes on with what is saved. This is the change:"
          : "The scene becomes live: its machines are connected and may get commands."}
      </p>
      {read.refusal && <Refused refusal={read.refusal} />}
      {read.value?.change && <Diff text={read.value.change} label="The change to the live scene" />}
      {read.value?.change === "" && <p className="soft">What is saved says the same as what is live.</p>}
      {read.value?.found.summary && <Counts counts={read.value.found.summary} />}
      {read.value?.found.warnings.map((warning, index) => (
        <p key={index} className="told wait">
          {warning.says}
        </p>
      ))}
    </div>
  );
}

/** What was saved when the scene was last made live. */
async function liveDocument(name: string, signal: AbortSignal): Promise<object | null> {
  const query = { kinds: ["sceneActivated"], scene: name, limit: 1 };
  const events = (await get("/api/v1/events", { query, signal })) as Schemas["EventShape"][];
  const document = events[0]?.data.document;
  return typeof document === "object" && document !== null ? document : null;
}

function WouldRest({ name }: { name: string }) {
  const lists = useLive((snapshot) => snapshot.lists);
  return (
    <div className="stack">
      <p>The scene rests: its machines get no more commands, and another scene may name them. It stays saved.</p>
      <Counts counts={countsOf(lists, name)} />
    </div>
  );
}

/** How many of each list of the state belong to a scene and have not ended. */
export function countsOf(lists: Snapshot["lists"], scene: string): Record<string, number> {
  const counts = Object.entries(lists).map(([list, rows]): [string, number] => [
    list,
    [...rows.values()].filter((row) => row.scene === scene && !isOver(row)).length,
  ]);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

export function Counts({ counts }: { counts: Readonly<Record<string, number>> }) {
  if (Object.keys(counts).length === 0) return null;
  return (
    <p className="row small">
      {Object.entries(counts).map(([name, count]) => (
        <span key={name} className="chip">
          {inWords(name)}: {count}
        </span>
      ))}
    </p>
  );
}
