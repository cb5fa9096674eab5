// What a person asks of machines, followed to its end: asked, acknowledged by the server, done as the machines report
// it; or refused, with the reason. An answer of the server alone is never called done.

import { el } from "./floor-words.js";

const STAGES = ["asked", "acknowledged", "done"];

// What is asked for is done once, and not long after it was asked: a hold that waited behind something is dropped.
const PATIENCE_MS = 10_000;
let aheadMs = 0;

async function setClock() {
  const told = await fetch("/api/v1/health").then((answer) => answer.json()).catch(() => ({}));
  if (told.now) aheadMs = told.now - Date.now();
}

document.addEventListener("beforehand:open", setClock);

function once(method) {
  if (method === "GET") return {};
  const key = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return { "Idempotency-Key": key, "Beforehand-Deadline": String(Math.round(Date.now() + aheadMs + PATIENCE_MS)) };
}

export async function call(method, path, body) {
  let answer;
  try {
    answer = await fetch(`/api/v1${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...once(method) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Error("The server cannot be reached.");
  }
  const told = await answer.json().catch(() => ({}));
  if (answer.ok) return told;
  throw new Error([told.detail ?? `The server answered ${answer.status}.`, told.hint].filter(Boolean).join(" "));
}

export class Asking {
  constructor(place) {
    this.place = place;
    this.current = null;
  }

  // `isDone` looks at what the machines report.
  async ask({ word, method = "POST", path, body = {}, isDone, whenDone }) {
    const asked = { word, stage: "asked", isDone, whenDone };
    this.current = asked;
    this.#show();
    try {
      await call(method, path, body);
      asked.stage = "acknowledged";
    } catch (error) {
      asked.stage = "refused";
      asked.says = error.message;
    }
    this.look();
    this.#show();
  }

  look() {
    const asked = this.current;
    if (asked?.stage === "acknowledged" && asked.isDone()) {
      asked.stage = "done";
      this.#show();
    }
  }

  forget() {
    this.current = null;
    this.place.replaceChildren();
  }

  #show() {
    const asked = this.current;
    if (!asked) return;
    this.place.dataset.stage = asked.stage;
    if (asked.stage === "refused") {
      this.place.replaceChildren(el("span", { class: "stage refused" }, `${asked.word}: refused. ${asked.says}`));
      return;
    }
    const reached = STAGES.indexOf(asked.stage);
    const words = STAGES.map((stage, at) => {
      const told = stage === "done" && at <= reached ? `done: ${asked.whenDone}` : stage;
      return el("span", { class: `stage ${at <= reached ? "reached" : ""}`.trim() }, told);
    });
    this.place.replaceChildren(`${asked.word}: `, ...words.flatMap((word, at) => (at ? [" → ", word] : [word])));
  }
}
