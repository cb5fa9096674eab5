/** Words read as one types: every live scene that plans is asked what it understands; nothing is planned by that. */
import { useEffect, useMemo, useState } from "react";
import { ask, asRefusal, type Refusal, type Schemas } from "@/api/client";
import { useFetched, useList } from "@/live/hooks";
import type { Step } from "./intent";

export type Reading = Schemas["IntentShape"];

/** What one scene makes of the words: an intent, or why not. */
export interface Outcome {
  reading?: Reading;
  refusal?: Refusal;
}

export type Outcomes = Readonly<Record<string, Outcome>>;

/** The value once it has held still for a while. */
export function useSettled<T>(value: T, afterMs: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), afterMs);
    return () => clearTimeout(timer);
  }, [value, afterMs]);
  return settled;
}

async function read(body: object, signal: AbortSignal): Promise<Outcome> {
  try {
    return { reading: await ask("/api/v1/intents", { body, signal }) };
  } catch (error) {
    return { refusal: asRefusal(error) };
  }
}

export interface SceneRow {
  name: string;
  kind: string;
  active: boolean;
}

/** Scenes that are live, and the one chosen if it rests. */
export function useScenes(chosen: string | null): SceneRow[] {
  const all = useList<SceneRow>("scenes");
  return useMemo(() => [...all.values()].filter((row) => row.active || row.name === chosen), [all, chosen]);
}

export function useReadings(text: string, scenes: readonly string[], allowed: boolean): Outcomes | undefined {
  const words = text.trim();
  const key = allowed && words !== "" && scenes.length > 0 ? JSON.stringify([words, scenes]) : null;
  const fetched = useFetched(key, async (signal) => {
    const told = await Promise.all(
      scenes.map(async (scene) => [scene, await read({ scene, text: words }, signal)] as const),
    );
    return Object.fromEntries(told) as Outcomes;
  });
  return fetched.value;
}

/** A corrected intent read again, so that each step is said in the server's words. */
export function useCorrected(scene: string | null, steps: readonly Step[] | null): Outcome | undefined {
  const key = scene !== null && steps !== null ? JSON.stringify([scene, steps]) : null;
  return useFetched(key, (signal) => read({ scene, intent: { steps } }, signal)).value;
}

const NO_PLANNER = "scene.no_planner";
export const NO_READING = "scene.no_reading";

/** Scenes whose craft plans at all. */
export function planning(outcomes: Outcomes, names: readonly string[]): string[] {
  return names.filter((name) => outcomes[name]?.refusal?.code !== NO_PLANNER);
}

/** The scene that understands the words, else the one that understands most of them. */
export function best(outcomes: Outcomes, names: readonly string[]): string | null {
  const grade = (name: string) => {
    const told = outcomes[name];
    if (told?.reading) return 1_000;
    if (told?.refusal?.code === NO_PLANNER) return -1;
    const understood = told?.refusal?.body.understood;
    return (Array.isArray(understood) ? understood.length : 0) * 10 + (told?.refusal?.problems.length ? 5 : 0);
  };
  return names.reduce<string | null>(
    (found, name) => (found === null || grade(name) > grade(found) ? name : found),
    null,
  );
}
