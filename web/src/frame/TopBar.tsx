/** The top bar: which scenes are live, whether the server is heard, what waits, and Hold all. */
import { useEffect, useState } from "react";
import { write } from "@/api/client";
import { useList, useLive, useTick } from "@/live/hooks";
import type { Standing } from "@/live/protocol";
import { duration } from "@/parts/time";
import { HoldAll } from "./HoldAll";
import { Icon } from "./Icon";
import { Link } from "./router";
import { chooseTheme, useTheme } from "./theme";
import { tellWho } from "./who";

export function TopBar({ onMenu, onPalette }: { onMenu: () => void; onPalette: () => void }) {
  return (
    <header className="bar">
      <button type="button" className="button ghost menu-button" onClick={onMenu} aria-label="Menu">
        <Icon name="menu" />
      </button>
      <LiveScenes />
      <span className="spread" />
      <button type="button" className="button ghost palette-button" aria-label="Find or do Ctrl K" onClick={onPalette}>
        <Icon name="search" size={16} /> <span className="wide-only">Find or do</span>{" "}
        <kbd className="wide-only">Ctrl K</kbd>
      </button>
      <Waiting />
      <LiveBadge />
      <HoldAll />
      <ThemeButton className="wide-only" />
      <LogOut className="wide-only" />
    </header>
  );
}

function LiveScenes() {
  const scenes = useList<{ name: string; active?: boolean; live?: boolean }>("scenes");
  const ready = useLive((snapshot) => snapshot.ready);
  const live = [...scenes.values()].filter((scene) => scene.active && scene.live !== false);
  if (!ready) return null;
  if (live.length === 0)
    return (
      <Link to="/scenes" className="live-scenes soft small">
        No scene is live
      </Link>
    );
  const names = live.map((scene) => scene.name);
  return (
    <Link to="/scenes" className="live-scenes soft small" title={names.join(", ")}>
      {names.slice(0, 3).join(" · ")}
      {names.length > 3 && ` · ${names.length - 3} more`}
    </Link>
  );
}

function Waiting() {
  const count = useList("decisions").size;
  const ready = useLive((snapshot) => snapshot.ready);
  if (!ready) return null;
  return (
    <Link to="/inbox" className={count > 0 ? "waiting some" : "waiting"} aria-label={`Decisions waiting: ${count}`}>
      <Icon name="inbox" size={16} />
      {count}
    </Link>
  );
}

function LiveBadge() {
  const up = useLive((snapshot) => snapshot.up);
  const heardAt = useLive((snapshot) => snapshot.heardAt);
  const standing = useLive((snapshot) => snapshot.standing);
  const now = useTick(1_000);
  const [since, setSince] = useState<number | null>(null);
  useEffect(() => setSince(up ? null : Date.now()), [up]);
  const age = Math.max(0, Math.floor((now - (since ?? heardAt)) / 1_000));
  return (
    <span
      className={up ? "live on" : "live off"}
      role="status"
      title={up ? standingWords(standing) : "The server cannot be reached; trying again"}
    >
      <span className="live-dot" aria-hidden="true" />
      {up ? "Live" : "Lost"}{" "}
      <span className="soft small nowrap live-age" aria-hidden="true">
        {duration(age).replace(/\.0 /, " ")}
      </span>
      {up && standing.role !== "leads" && (
        <span className="soft small nowrap wide-only">
          {standing.role === "standsBy" ? "this server stands by" : "this server takes over"}
        </span>
      )}
    </span>
  );
}

function standingWords({ role, leader }: Standing): string {
  const age = "Time since the last event";
  if (role === "leads") return age;
  if (role === "takesOver") return `${age}. This server takes over; what is written waits a moment.`;
  const where = leader === null ? "No server leads now." : `${leader} leads.`;
  return `${age}. This server stands by and hands on what is written. ${where}`;
}

export function ThemeButton({ className, words = false }: { className: string; words?: boolean }) {
  const theme = useTheme();
  const other = theme === "dark" ? "light" : "dark";
  return (
    <button
      type="button"
      className={`button ghost ${className}`}
      onClick={() => chooseTheme(other)}
      aria-label={`Use the ${other} theme`}
      title={`Use the ${other} theme`}
    >
      <Icon name={theme === "dark" ? "sun" : "moon"} size={16} />
      {words && `Use the ${other} theme`}
    </button>
  );
}

export function LogOut({ className }: { className: string }) {
  const me = useLive((snapshot) => snapshot.me);
  if (me === null || me.name === "local") return null;
  const leave = async () => {
    await write("post", "/api/v1/logout").catch(() => undefined);
    tellWho();
    location.assign("/login");
  };
  return (
    <button
      type="button"
      className={`button ghost small ${className}`}
      onClick={() => void leave()}
      title={`${me.name}, ${me.role}`}
    >
      Log out
    </button>
  );
}
