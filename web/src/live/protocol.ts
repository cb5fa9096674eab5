/** What the live connection tells the windows that share it, and what they tell it. */
export interface LogEvent {
  seq: number;
  ts: string;
  kind: string;
  scene?: string | null;
  correlationId: string;
  about: Record<string, string | number>;
  data: Record<string, unknown>;
  says?: string;
}

/** Positions and progress: not in the log, only the newest counts. */
export interface Frame {
  kind: string;
  scene?: string;
  ts: number;
  [field: string]: unknown;
}

/** Where the server stands that is heard: several may share one database, and one of them leads. */
export interface Standing {
  role: "leads" | "takesOver" | "standsBy";
  /** Where the one is that leads, unless it is this one or none does. */
  leader: string | null;
  /** Since when the log cannot be written, in ms since 1970; left out while it can. */
  logAwaySince?: number;
}

export type FromLive =
  | { type: "event"; event: LogEvent }
  | { type: "frame"; frame: Frame }
  | { type: "now"; now: number; standing: Standing }
  | { type: "up"; seq: number; boot: string; version: string }
  | { type: "down" }
  /** Events are missing between what the window has and what comes: read the state anew, then join again. */
  | { type: "gap" }
  /** The server does not know who this is any more. */
  | { type: "stranger" };

export type ToLive = { type: "join"; seq: number } | { type: "leave" };

/** On this channel every window and the connection hear that somebody logged in or out in this browser. */
export const WHO_CHANNEL = "beforehand-who";
