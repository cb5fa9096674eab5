/**
 * The plan as one reads it: always one version, which stands in the URL. A newer one that somebody else makes is told
 * and never slipped in; the reader goes to it by a press.
 */
import { useCallback, useEffect, useRef, useState } from "react";
import { get, type Refusal, type Schemas } from "@/api/client";
import { goWith, useQuery } from "@/frame/router";
import { useFetched, useStore } from "@/live/hooks";
import type { LogEvent } from "@/live/protocol";

export type PlanDoc = Schemas["PlanShape"];
export type Review = Schemas["ReviewShape"];

export interface Reading {
  plan: PlanDoc | undefined;
  review: Review | undefined;
  /** The newest version there is, as far as this window has heard. */
  latest: number;
  refusal: Refusal | null;
  read: (version: number) => void;
  /** Go on with a version that was just made from here. */
  take: (plan: PlanDoc) => void;
}

const CONCERNS = new Set(["everythingHeld", "everythingCleared", "sceneActivated", "sceneDeactivated", "sceneSaved"]);

function concerns(event: LogEvent, id: string, scene: string | null | undefined): boolean {
  if (event.about.planId === id) return event.kind !== "stepUpdated";
  if (event.kind === "runStarted" || event.kind === "runFinished") return event.scene === scene;
  return CONCERNS.has(event.kind) || (event.kind === "cellStateChanged" && event.scene === scene);
}

export function usePlan(id: string): Reading {
  const [asked] = useQuery("version");
  const version = Number(asked) || undefined;
  const [made, setMade] = useState<PlanDoc>();
  const latest = useLatest(id);
  const fetched = useFetched(`${id} ${version ?? ""}`, (signal) =>
    get("/api/v1/plans/{plan_id}", { path: { plan_id: id }, query: { version }, signal }),
  );
  const fresh = made?.id === id && made.version === version ? made : fetched.value;
  const before = useRef<PlanDoc>(undefined);
  if (fresh) before.current = fresh;
  const plan = fresh ?? (before.current?.id === id ? before.current : undefined);
  const reviewed = useFetched(
    plan ? `${id} ${plan.version}` : null,
    (signal) =>
      get("/api/v1/plans/{plan_id}/review", { path: { plan_id: id }, query: { version: plan?.version }, signal }),
    (event) => concerns(event, id, plan?.scene),
  );
  useEffect(() => {
    if (version === undefined && fresh) goWith({ version: String(fresh.version) });
  }, [version, fresh]);
  const read = useCallback((next: number) => goWith({ version: String(next) }, { replace: false }), []);
  const take = useCallback((next: PlanDoc) => {
    setMade(next);
    goWith({ version: String(next.version) }, { replace: false });
  }, []);
  return {
    plan,
    review: reviewed.value,
    latest: Math.max(latest, reviewed.value?.latestVersion ?? 0, plan?.version ?? 0),
    refusal: fetched.refusal ?? reviewed.refusal,
    read,
    take,
  };
}

/** The newest version heard of, told the moment its event comes. */
function useLatest(id: string): number {
  const store = useStore();
  const [latest, setLatest] = useState({ id, version: 0 });
  useEffect(
    () =>
      store.onEvent((event) => {
        if (event.kind !== "planEdited" || event.about.planId !== id) return;
        const version = Number(event.data.version) || 0;
        setLatest((before) => (before.id === id && before.version >= version ? before : { id, version }));
      }),
    [store, id],
  );
  return latest.id === id ? latest.version : 0;
}
