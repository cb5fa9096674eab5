/**
 * This window's line to the live connection: through a SharedWorker, or, where there is none, through the one window
 * that holds the lock and passes on to the others what it hears.
 */
import { Connection } from "./connection";
import type { FromLive, ToLive } from "./protocol";

export interface Line {
  send(message: ToLive): void;
}

export function openLine(hear: (message: FromLive) => void): Line {
  return typeof SharedWorker === "undefined" ? lineByLeader(hear) : lineByWorker(hear);
}

function lineByWorker(hear: (message: FromLive) => void): Line {
  const worker = new SharedWorker(new URL("./worker.ts", import.meta.url), { type: "module", name: "beforehand-live" });
  worker.port.onmessage = (message: MessageEvent<FromLive>) => hear(message.data);
  worker.port.start();
  // A window that goes away without a word would be kept for ever.
  window.addEventListener("pagehide", () => worker.port.postMessage({ type: "leave" } satisfies ToLive));
  return { send: (message) => worker.port.postMessage(message) };
}

type Passed = { to: string; message: FromLive } | { from: string; message: ToLive } | { leader: true };

export function lineByLeader(hear: (message: FromLive) => void): Line {
  const me = Math.random().toString(36).slice(2);
  const channel = new BroadcastChannel("beforehand-live");
  let connection: Connection | null = null;
  let newest: ToLive | null = null;

  const followers = new Map<string, object>();
  const serve = (from: string, message: ToLive) => {
    if (connection === null) return;
    const who = followers.get(from) ?? {};
    followers.set(from, who);
    const tell = (said: FromLive) => (from === me ? hear(said) : channel.postMessage({ to: from, message: said }));
    connection.take(who, tell, message);
  };
  channel.onmessage = ({ data }: MessageEvent<Passed>) => {
    if ("leader" in data) hear({ type: "gap" });
    else if ("to" in data && data.to === me) hear(data.message);
    else if ("from" in data) serve(data.from, data.message);
  };
  // Held until this window closes; then the next one leads, and everybody joins it anew.
  void navigator.locks.request("beforehand-live", async () => {
    connection = new Connection();
    channel.postMessage({ leader: true });
    if (newest !== null) serve(me, newest);
    await new Promise(() => undefined);
  });
  const send = (message: ToLive) => {
    newest = message;
    if (connection !== null) serve(me, message);
    else channel.postMessage({ from: me, message });
  };
  window.addEventListener("pagehide", () => send({ type: "leave" }));
  return { send };
}
