/** What the frame shows where: the screens that know no craft, and those that crafts bring. */
import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import { CRAFTS } from "@/crafts";
import type { IconName } from "./Icon";

export interface Screen {
  /** Such as `/plans/:id`; the named parts are handed to the view. */
  path: string;
  title: string;
  view: LazyExoticComponent<ComponentType<{ named: Record<string, string> }>>;
  /** Its place in the rail, the letter after `g`, and what it is for in a few words. */
  rail?: { icon: IconName; key: string; order: number; says: string };
}

const OWN: Screen[] = [
  {
    path: "/",
    title: "Now",
    view: lazy(() => import("@/screens/now/Now")),
    rail: { icon: "now", key: "n", order: 10, says: "What needs you, what happens, what is stuck" },
  },
  {
    path: "/inbox",
    title: "Inbox",
    view: lazy(() => import("@/screens/inbox/Inbox")),
    rail: { icon: "inbox", key: "i", order: 20, says: "Every decision that waits for a person" },
  },
  { path: "/inbox/:id", title: "Inbox", view: lazy(() => import("@/screens/inbox/Inbox")) },
  {
    path: "/new",
    title: "New",
    view: lazy(() => import("@/screens/new/New")),
    rail: { icon: "new", key: "c", order: 30, says: "Say what you want; see the plan before it moves" },
  },
  { path: "/plans/:id", title: "Plan", view: lazy(() => import("@/screens/plan/Plan")) },
  { path: "/runs/:id", title: "Run", view: lazy(() => import("@/screens/run/Run")) },
  {
    path: "/scenes",
    title: "Streams and scenes",
    view: lazy(() => import("@/screens/scenes/Scenes")),
    rail: { icon: "scenes", key: "s", order: 60, says: "What is set up, and what would change" },
  },
  { path: "/scenes/:name", title: "Scene", view: lazy(() => import("@/screens/scenes/Scene")) },
  {
    path: "/history",
    title: "History",
    view: lazy(() => import("@/screens/history/History")),
    rail: { icon: "history", key: "h", order: 80, says: "What happened, and who decided" },
  },
  { path: "/history/replay", title: "Replay", view: lazy(() => import("@/screens/history/Replay")) },
  { path: "/history/shift", title: "Shift handover", view: lazy(() => import("@/screens/history/Shift")) },
  {
    path: "/setup",
    title: "Setting up",
    view: lazy(() => import("@/screens/setup/Setup")),
    rail: { icon: "setup", key: "u", order: 90, says: "Tools, plug-ins, tokens, settings, doctor" },
  },
  { path: "/help", title: "Help", view: lazy(() => import("@/screens/help/Help")) },
  { path: "/help/:page", title: "Help", view: lazy(() => import("@/screens/help/Help")) },
];

export const SCREENS: readonly Screen[] = [...OWN, ...CRAFTS.flatMap((craft) => craft.screens ?? [])];

export const RAIL: readonly (Screen & { rail: NonNullable<Screen["rail"]> })[] = SCREENS.filter(
  (screen): screen is Screen & { rail: NonNullable<Screen["rail"]> } => screen.rail !== undefined,
).sort((one, other) => one.rail.order - other.rail.order);
