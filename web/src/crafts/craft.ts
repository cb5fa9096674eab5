/**
 * What a craft brings to the console, each part optional. Everything of a craft lies in its own folder; the frame and
 * the screens that know no craft find it here.
 */
import type { ComponentType, LazyExoticComponent } from "react";
import type { Schemas } from "@/api/client";
import type { Screen } from "@/frame/screens";
import type { ListRule, Row, Snapshot } from "@/live/store";
import type { Look } from "@/parts/StateMark";

/** Something that goes on: one sentence from the server, a link, and how far it is (0 to 1, where that is known). */
export interface Going {
  key: string;
  state: string;
  says: string;
  to: string;
  progress?: number;
  since?: string | number;
}

/** Something that stands still, with the server's reason. */
export interface Stuck {
  key: string;
  state: string;
  title: string;
  to: string;
  reasons: readonly Schemas["ReasonShape"][];
}

/** A plan's preview played on a craft's own map; `atS` is where the scrubber stands. */
export interface PreviewMapProps {
  scene: Schemas["SceneShape"];
  plan: Schemas["PlanShape"];
  preview: Schemas["PreviewShape"];
  atS: number;
}

/** A live scene drawn small, for a run's screen and for the list of scenes. */
export interface SceneMapProps {
  scene: Schemas["SceneShape"];
}

/** A scene drawn as it was at one place of the log; `lists` are those of the state then. */
export interface PastMapProps {
  scene: Schemas["SceneShape"];
  lists: Readonly<Record<string, readonly Row[]>>;
}

/** What a craft lets a person steer in its live scenes, such as streams; of one scene, or of all where none is named. */
export interface ScenePartsProps {
  scene?: string;
}

/** One thing of the past, for History and the shift page. Sentences in it are the server's. */
export interface Past {
  key: string;
  /** Its view. */
  to: string;
  name: string;
  says?: string;
  state: string;
  /** Another word for the state than its own. */
  word?: string;
  at: string | number;
  endedAt?: string | number | null;
  scene?: string | null;
  by?: string | null;
  why?: string | null;
  note?: string | null;
  /** Whether it has ended. */
  over: boolean;
  /** The thing as the server gave it. */
  row: object;
  /** The number of the run, for a replay of it. */
  runId?: string;
}

/** A list of the past: what it is called in the URL, and how its newest are read. */
export interface PastList {
  what: string;
  title: string;
  /** What to say and do while there is none. */
  none: { says: string; button: string; to: string };
  read: (limit: number, signal: AbortSignal) => Promise<Past[]>;
  /** Whether an event changes the list. */
  concerns: (kind: string) => boolean;
}

export interface Palette {
  /** The name as the command line writes it, such as `robots hold RB-01`. */
  name: string;
  says: string;
  to: string;
}

export interface CraftPart {
  name: string;
  /** The kind of scenes it has. */
  sceneKind?: string;
  /** What one could say to its planner. */
  example?: string;
  /** What one could ask about what it has done, by the names it has; first those that fit most people. */
  questions?: (snapshot: Snapshot) => string[];
  /** How states of its own look. */
  looks?: Readonly<Record<string, Look>>;
  screens?: readonly Screen[];
  /** How events change the lists it adds to the state. */
  rules?: readonly ListRule[];
  /** Kinds of its events that change nothing the state shows. */
  quiet?: readonly string[];
  /** Where its ids lead. */
  ways?: Readonly<Record<string, (id: string, about: Readonly<Record<string, unknown>>) => string>>;
  /** What of it goes on now. */
  going?: (snapshot: Snapshot) => Going[];
  /** What of it stands still; a component, since reasons are asked for. */
  stuck?: LazyExoticComponent<ComponentType>;
  previewMap?: LazyExoticComponent<ComponentType<PreviewMapProps>>;
  sceneMap?: LazyExoticComponent<ComponentType<SceneMapProps>>;
  /** Whether a model may read words that its own planner refuses. */
  modelReads?: boolean;
  /** A scene of its kind as it was, for the replay. */
  pastMap?: LazyExoticComponent<ComponentType<PastMapProps>>;
  sceneParts?: LazyExoticComponent<ComponentType<ScenePartsProps>>;
  /** The files that its scenes name; of one scene, or all. */
  sceneFiles?: LazyExoticComponent<ComponentType<ScenePartsProps>>;
  /** Kinds of its events by which something is held or let go, for the shift page. */
  holds?: readonly string[];
  /** The lists of the past it adds to History. */
  past?: readonly PastList[];
  /** What it adds to the screen New. */
  newForm?: { title: string; says: string; view: LazyExoticComponent<ComponentType> };
  /** Forms that give its simulated machines a fault. */
  faults?: LazyExoticComponent<ComponentType>;
  palette?: (snapshot: Snapshot) => Palette[];
}
