/** Floor: the fleet's map with its robots, worksites and tasks, the same as a list, and the details of one of them. */
import { useCallback, useEffect, useMemo, useState } from "react";
import { goWith, Link, usePlace } from "@/frame/router";
import { useList, useTick } from "@/live/hooks";
import { MapCanvas } from "@/parts/map/MapCanvas";
import { Empty, Loading, Refused } from "@/parts/Told";
import { duration } from "@/parts/time";
import { ChoosePlace, usePlacesFor } from "./ChoosePlace";
import { FloorHead } from "./FloorHead";
import { FloorList } from "./FloorList";
import type { FloorHit } from "./FloorPainter";
import { Layers } from "./Layers";
import { Legend } from "./Legend";
import { type Fleet, type FleetDocument, type Robot, sceneOfTask } from "./model";
import { RobotDrawer } from "./RobotDrawer";
import { TaskDrawer } from "./TaskDrawer";
import { type Floor, useDocument, useFloor, useScene } from "./useFloor";
import { WorksiteDrawer } from "./WorksiteDrawer";
import "./floor.css";

/** After so long without a frame the positions are called old. */
const OLD_MS = 4_000;

export default function FloorScreen() {
  const scenes = [...useList<Fleet>("fleets").keys()].sort();
  const name = useSceneNamed(scenes);
  const { scene, refusal } = useScene(name);
  const document = useDocument(scene);
  if (name === null)
    return (
      <>
        <header className="page-head">
          <h1>Floor</h1>
        </header>
        <Empty title="No fleet is live.">
          <p>Make a scene with robots live, and its floor is shown here.</p>
          <Link to="/scenes" className="button first">
            Go to the scenes
          </Link>
        </Empty>
      </>
    );
  if (document === null) return refusal ? <Refused refusal={refusal} /> : <Loading what="the floor" />;
  return <OneFloor key={document.name} document={document} scenes={scenes} />;
}

/** The scene the URL names, or the one that has the thing it names, or the first. */
function useSceneNamed(scenes: readonly string[]): string | null {
  const { query } = usePlace();
  const robots = useList<Robot>("robots");
  const asked = query.get("scene") ?? sceneOfTask(query.get("task") ?? query.get("choose"));
  if (asked !== null && scenes.includes(asked)) return asked;
  const robotId = query.get("robot");
  const owner = robotId && [...robots.values()].find((robot) => robot.robotId === robotId)?.scene;
  return owner || (scenes[0] ?? null);
}

function OneFloor({ document, scenes }: { document: FleetDocument; scenes: readonly string[] }) {
  const floor = useFloor(document);
  const { query } = usePlace();
  const selected = useMemo(() => selectedIn(query), [query]);
  const choosing = query.get("choose");
  const [picked, setPicked] = useState<string | null>(null);
  const places = usePlacesFor(floor, choosing);
  const onMap = selected?.kind === "task" ? (robotOf(floor, selected.id) ?? null) : selected;
  const [kind, id] = [onMap?.kind, onMap?.id];
  useEffect(() => floor.painter.select(kind && id ? { kind, id } : null), [floor.painter, kind, id]);
  const pick = useCallback(
    (hit: FloorHit | null) => {
      if (hit?.kind === "several") return;
      if (choosing !== null) setPicked(hit?.kind === "worksite" ? hit.id : null);
      else show(hit, floor.scene);
    },
    [choosing, floor.scene],
  );
  const isWall = query.get("wall") !== null;
  useWall(isWall);
  const isOpen = selected !== null && choosing === null;
  return (
    <div className={`floor${isWall ? " floor-wall" : ""}${isOpen ? " floor-open" : ""}`}>
      <FloorHead floor={floor} scenes={scenes} />
      <p className="soft small floor-told">Holding a fleet is not an emergency stop.</p>
      <div className="floor-body">
        <FloorList floor={floor} selected={selected} />
        <div className="floor-map">
          {choosing !== null && (
            <ChoosePlace floor={floor} taskId={choosing} places={places} picked={picked} onPicked={setPicked} />
          )}
          <MapCanvas
            painter={floor.painter}
            label={`Map of ${floor.scene}; the list beside it has the same robots and worksites`}
            onPick={pick}
            fitKey={floor.scene}
          >
            <Freshness floor={floor} />
          </MapCanvas>
          <Layers floor={floor} />
          <Legend />
        </div>
      </div>
      {isOpen && <Details floor={floor} selected={selected} />}
    </div>
  );
}

type Selected = { kind: "robot" | "worksite" | "task"; id: string };
const KINDS = ["robot", "worksite", "task"] as const;

function selectedIn(query: URLSearchParams): Selected | null {
  for (const kind of KINDS) {
    const id = query.get(kind);
    if (id) return { kind, id };
  }
  return null;
}

function robotOf(floor: Floor, taskId: string): { kind: "robot"; id: string } | undefined {
  const id = floor.tasks.get(taskId)?.robotId;
  return id ? { kind: "robot", id } : undefined;
}

function show(hit: { kind: "robot" | "worksite"; id: string } | null, scene: string): void {
  const none = { robot: null, worksite: null, task: null };
  goWith(hit === null ? none : { ...none, [hit.kind]: hit.id, scene }, { replace: false });
}

function Details({ floor, selected }: { floor: Floor; selected: Selected }) {
  const close = useCallback(() => {
    goWith({ robot: null, worksite: null, task: null });
    const row = `[data-${selected.kind}="${CSS.escape(selected.id)}"]`;
    document.querySelector<HTMLElement>(`.floor-list ${row}`)?.focus({ preventScroll: true });
  }, [selected]);
  const given = { floor, id: selected.id, onClose: close };
  if (selected.kind === "robot") return <RobotDrawer key={selected.id} {...given} />;
  if (selected.kind === "worksite") return <WorksiteDrawer key={selected.id} {...given} />;
  return <TaskDrawer key={selected.id} {...given} />;
}

/** Old positions are not shown as new ones. */
function Freshness({ floor }: { floor: Floor }) {
  const now = useTick(1_000);
  const { heardAt, frames } = floor.tracks;
  const isOld = frames > 0 && now - heardAt > OLD_MS;
  return (
    <p className="floor-note" role="status" data-frames={frames} data-fresh={frames > 0 && !isOld}>
      {isOld && `Positions are from ${duration(Math.round((now - heardAt) / 1_000))} ago.`}
    </p>
  );
}

/** Leaving the full screen by Escape leaves the wall too. */
function useWall(isWall: boolean): void {
  useEffect(() => {
    if (!isWall) return;
    const leave = () => {
      if (document.fullscreenElement === null) goWith({ wall: null });
    };
    const press = (event: KeyboardEvent) => {
      const open = document.querySelector("dialog[open], .drawer");
      if (event.key === "Escape" && open === null) goWith({ wall: null });
    };
    document.addEventListener("fullscreenchange", leave);
    window.addEventListener("keydown", press);
    return () => {
      document.removeEventListener("fullscreenchange", leave);
      window.removeEventListener("keydown", press);
    };
  }, [isWall]);
}
