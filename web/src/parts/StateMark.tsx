/** A state as colour, shape and word together: none of the three carries it alone. */

export type Tone = "good" | "busy" | "wait" | "bad" | "doubt" | "held" | "quiet";
type Shape = "tick" | "ring" | "half" | "square" | "diamond" | "cross" | "bar" | "dash" | "dot" | "slash";

export interface Look {
  tone: Tone;
  shape: Shape;
  word: string;
}

export const look = (tone: Tone, shape: Shape, word: string): Look => ({ tone, shape, word });

/** Denied, cancelled and in doubt are states of their own and never look like success. */
const LOOKS: Record<string, Look> = {
  // steps and runs
  pending: look("quiet", "ring", "Pending"),
  ready: look("quiet", "ring", "Ready"),
  running: look("busy", "half", "Running"),
  waiting: look("wait", "diamond", "Waiting"),
  waiting_approval: look("wait", "diamond", "Waiting for approval"),
  awaiting_approval: look("wait", "diamond", "Waiting for approval"),
  retrying: look("wait", "half", "Retrying"),
  completed: look("good", "tick", "Completed"),
  done: look("good", "tick", "Done"),
  success: look("good", "tick", "Done"),
  partial: look("wait", "slash", "Partly done"),
  failed: look("bad", "cross", "Failed"),
  skipped: look("quiet", "dash", "Skipped"),
  denied: look("doubt", "slash", "Denied"),
  cancelled: look("quiet", "square", "Cancelled"),
  canceled: look("quiet", "square", "Cancelled"),
  blocked: look("wait", "bar", "Blocked"),
  in_doubt: look("doubt", "diamond", "In doubt"),
  inDoubt: look("doubt", "diamond", "In doubt"),
  paused: look("held", "bar", "Paused"),
  // what else begins and ends
  open: look("busy", "half", "Open"),
  ended: look("quiet", "square", "Ended"),
  // machines and their work
  idle: look("quiet", "ring", "Idle"),
  held: look("held", "bar", "Held"),
  error: look("bad", "cross", "Error"),
  offline: look("bad", "slash", "Silent"),
  online: look("good", "dot", "Online"),
  created: look("quiet", "ring", "Created"),
  active: look("busy", "half", "Active"),
  stale: look("doubt", "diamond", "Stale"),
  // health
  ok: look("good", "tick", "OK"),
  warning: look("wait", "bar", "Warning"),
  problem: look("bad", "cross", "Problem"),
};

/** Crafts add the states of their own. */
export function addLooks(looks: Readonly<Record<string, Look>>): void {
  Object.assign(LOOKS, looks);
}

export function lookOf(state: string): Look {
  return (
    (Object.hasOwn(LOOKS, state) ? LOOKS[state] : undefined) ??
    look(
      "quiet",
      "ring",
      state.replaceAll("_", " ").replace(/^./, (letter) => letter.toUpperCase()),
    )
  );
}

const PATHS: Record<Shape, { d: string; fill?: boolean }> = {
  tick: { d: "M3.5 8.5l3 3 6-7" },
  ring: { d: "M8 3.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9z" },
  half: { d: "M8 3a5 5 0 1 1 0 10 5 5 0 0 1 0-10z" },
  square: { d: "M4 4h8v8H4z" },
  diamond: { d: "M8 2.5L13.5 8 8 13.5 2.5 8z", fill: true },
  cross: { d: "M4 4l8 8M12 4l-8 8" },
  bar: { d: "M5.5 3.5v9M10.5 3.5v9" },
  dash: { d: "M3.5 8h9" },
  dot: { d: "M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6z", fill: true },
  slash: { d: "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11zM4.2 11.8l7.6-7.6" },
};

export function Mark({ state, size = 16 }: { state: string; size?: number }) {
  const { tone, shape } = lookOf(state);
  const path = PATHS[shape];
  return (
    <svg className={`mark tone-${tone}`} width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
      <path
        d={path.d}
        fill={path.fill ? "currentColor" : "none"}
        stroke="currentColor"
        strokeWidth="2"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
      {shape === "half" && <path d="M8 3a5 5 0 0 1 0 10z" fill="currentColor" />}
    </svg>
  );
}

export function State({ state, word }: { state: string; word?: string }) {
  const looks = lookOf(state);
  return (
    <span className={`state tone-${looks.tone}`} data-state={state}>
      <Mark state={state} />
      {word ?? looks.word}
    </span>
  );
}
