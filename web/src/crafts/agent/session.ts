/** What a session is for its screen: the shapes of the API, and its ticks as seconds. */
import type { Schemas } from "@/api/client";
import type { LogEvent } from "@/live/protocol";

export type Session = Schemas["SessionShape"];
export type LoggedCommand = Schemas["LoggedCommandShape"];
export type Lane = Schemas["LaneShape"];
export const TICKS_PER_S = 20;

export function concerns(sessionId: string): (event: LogEvent) => boolean {
  return (event) => event.about.sessionId === sessionId;
}

export const STEERED: Record<string, string> = {
  person: "a person",
  model: "a model",
  policy: "the policy",
  file: "a command file",
};

/** Whether somebody or something steers it that would have to be taken over from. */
export function isAnothers(session: Session): boolean {
  return session.status === "open" && (session.steeredBy !== "person" || Boolean(session.steerer));
}

/** The verbs an object of the surroundings is for, line by line: `bed1: at (1.2, 6.7), for: sit, lie, touch`. */
export interface Thing {
  name: string;
  says: string;
  verbs: string[];
}

export function thingsOf(surroundings: string): Thing[] {
  return surroundings.split("\n").flatMap((line) => {
    const [name, says] = line.split(/:\s(.*)/s);
    if (!name || says === undefined) return [];
    const verbs = /for: (.*)$/.exec(says)?.[1]?.split(", ") ?? [];
    return [{ name, says, verbs }];
  });
}

const WORDS: Record<string, (name: string) => string> = {
  sit: (name) => `sitting on ${name}`,
  lie: (name) => `lying on ${name}`,
  lean: (name) => `leaning on ${name}`,
  touch: (name) => `touching ${name}`,
  take: (name) => `taking ${name}`,
  open: (name) => `opening ${name}`,
  close: (name) => `closing ${name}`,
  push: (name) => `pushing ${name}`,
};

/** Actions that could be started, as they are written. */
export function suggestions(things: readonly Thing[]): string[] {
  const going = things.map(({ name }) => `going to ${name}`);
  const doing = things.flatMap(({ name, verbs }) => verbs.flatMap((verb) => WORDS[verb]?.(name) ?? []));
  return [...doing, ...going].sort();
}
