/** The head of a floor: which fleet, how it is, how much it has done, and holding it. */
import { Icon } from "@/frame/Icon";
import { goWith, Link, usePlace } from "@/frame/router";
import { useLive, useTick } from "@/live/hooks";
import { CommandButton } from "@/parts/Command";
import { State } from "@/parts/StateMark";
import { askFleet, clearAll } from "./calls";
import { stateOf } from "./model";
import type { Floor } from "./useFloor";

export function FloorHead({ floor, scenes }: { floor: Floor; scenes: readonly string[] }) {
  return (
    <header className="floor-head">
      <h1>Floor</h1>
      {scenes.length > 1 ? (
        <SceneTabs scenes={scenes} now={floor.scene} />
      ) : (
        <span className="soft">{floor.scene}</span>
      )}
      <FleetState floor={floor} />
      <Counts floor={floor} />
      <div className="row floor-commands">
        <HoldFleet floor={floor} />
        <WallButton />
      </div>
    </header>
  );
}

function SceneTabs({ scenes, now }: { scenes: readonly string[]; now: string }) {
  return (
    <nav className="tabs" aria-label="Fleets">
      {scenes.map((scene) => (
        <Link
          key={scene}
          className="tab floor-tab"
          to={`/floor?scene=${encodeURIComponent(scene)}`}
          aria-current={scene === now ? "page" : undefined}
        >
          {scene}
        </Link>
      ))}
    </nav>
  );
}

function FleetState({ floor }: { floor: Floor }) {
  const { fleet, tasks } = floor;
  if (fleet?.held && fleet.person) return <State state="held" />;
  if (fleet?.held)
    return (
      <Link to="/inbox">
        <State state="error" word="Frozen after an error" />
      </Link>
    );
  return tasks.size > 0 ? <State state="active" word="Working" /> : <State state="idle" word="No work" />;
}

function Counts({ floor }: { floor: Floor }) {
  const states = floor.robots.map(stateOf);
  const held = [...floor.tasks.values()].filter((task) => ["held", "stale"].includes(task.status ?? "")).length;
  const counts: [string, number, string][] = [
    ["robots", floor.robots.length, ""],
    ["under way", floor.tasks.size, ""],
    ["completed", floor.fleet?.tasksCompleted ?? 0, ""],
    ["failed", floor.fleet?.tasksFailed ?? 0, "tone-bad"],
    ["tasks held", held, "tone-held"],
    ["silent", states.filter((state) => state === "offline").length, "tone-bad"],
  ];
  return (
    <dl className="floor-counts">
      {counts.map(([word, count, tone]) => (
        <div key={word} data-count={word} className={count > 0 ? tone : "soft"}>
          <dd>{count}</dd>
          <dt>{word}</dt>
        </div>
      ))}
    </dl>
  );
}

function HoldFleet({ floor }: { floor: Floor }) {
  useTick(500);
  const everything = useLive((snapshot) => snapshot.hold) !== null;
  const { fleet, scene, tracks } = floor;
  const byPerson = Boolean(fleet?.held && fleet.person);
  const standing = floor.robots.every((robot) => robot.status === "offline" || tracks.stands(robot.robotId));
  if (byPerson)
    return (
      <CommandButton
        key="clear"
        tone="first"
        label={everything ? "Clear everything" : `Clear ${scene}`}
        describe="Let the fleet go on; held tasks still wait for their answers"
        call={() => (everything ? clearAll() : askFleet(scene, "clear"))}
      />
    );
  return (
    <CommandButton
      key="hold"
      label={`Hold ${scene}`}
      describe="Stop every robot of this fleet and all dispatch. This is not an emergency stop."
      call={() => askFleet(scene, "hold")}
      done={byPerson && standing}
    />
  );
}

/** A wall shows the map alone; the URL says so too, so that a screen can be set up with it. */
function WallButton() {
  const isWall = usePlace().query.get("wall") !== null;
  const toggle = async () => {
    goWith({ wall: isWall ? null : "yes" });
    if (isWall && document.fullscreenElement) await document.exitFullscreen();
    else if (!isWall) await document.documentElement.requestFullscreen?.().catch(() => undefined);
  };
  return (
    <button
      type="button"
      className="button ghost"
      onClick={() => void toggle()}
      aria-pressed={isWall}
      title={isWall ? "Leave the full screen" : "Full screen, for a wall"}
    >
      <Icon name={isWall ? "close" : "full"} size={16} />
      <span className="wide-only">{isWall ? "Leave" : "Full screen"}</span>
    </button>
  );
}
