/**
 * The calls of the server, typed by its own description (`docs/openapi.json`).
 *
 * Reading is `get`; everything that changes something goes through `write`, which gives each command a key of its own
 * and a deadline by the server's clock: what was not answered by then is withdrawn here and refused there.
 */
import { serverNow } from "./clock";
import type { components, paths } from "./schema";
import { tellUnrecorded } from "./unrecorded";

export type Schemas = components["schemas"];
type Verb = "get" | "post" | "put" | "patch" | "delete";
type Has<V extends Verb> = { [P in keyof paths]: paths[P][V] extends { responses: unknown } ? P : never }[keyof paths];
type Parameters<O> = O extends { parameters: infer A } ? A : never;
type Answer<O> = O extends { responses: infer R }
  ? { [S in keyof R]: S extends 200 | 201 | 202 ? JsonOf<R[S]> : never }[keyof R]
  : never;
type JsonOf<R> = R extends { content: { "application/json": infer J } } ? J : unknown;
type PathOf<O> = Parameters<O> extends { path: infer A } ? A : Record<string, never>;
type QueryOf<O> = Parameters<O> extends { query?: infer Q } ? Q : Record<string, never>;

/** How long a command may wait for its acknowledgement. */
export const PATIENCE_MS = 3_000;

/** A refusal by the server, or no answer at all (`status` 0). */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly problems: Schemas["ProblemShape"][];
  readonly body: Record<string, unknown>;

  constructor(status: number, body: Record<string, unknown>) {
    super(String(body.detail ?? body.title ?? "The server did not answer."));
    this.status = status;
    this.code = String(body.code ?? "");
    this.problems = Array.isArray(body.problems) ? body.problems : [];
    this.body = body;
  }

  /** What to try, where the server says so. */
  get tryNext(): string {
    const told = this.body.tryNext ?? this.body.hint;
    return typeof told === "string" ? told : "";
  }
}

/**
 * No answer, in time or at all. Nothing more is sent and the server begins nothing after the deadline; whether it had begun
 * before is not known here. `settled` asks, by the command's key, until the server says: it gives what was answered, or
 * throws `NotDone` or the server's own refusal.
 */
export class Late extends Refusal {
  readonly settled: () => Promise<unknown>;

  constructor(noAnswer: string, settled: () => Promise<unknown>) {
    super(0, {
      detail: `${noAnswer} Whether it was done is not known yet; the server is asked.`,
      code: "command.late",
      tryNext: "Look at what the state shows before you ask again.",
    });
    this.settled = settled;
  }
}

/** The server says that a late command was not done, and it refuses it from now on. */
export class NotDone extends Refusal {
  constructor(noAnswer: string) {
    super(409, {
      detail: `${noAnswer} The server says that it was not done, and will not do it.`,
      code: "command.not_done",
      tryNext: "Ask again if it is still wanted.",
    });
  }
}

function address(path: string, named: object = {}, query: object = {}): string {
  const values = named as Record<string, unknown>;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => segment(String(values[name])));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") search.set(name, String(value));
  }
  return search.size > 0 ? `${filled}?${search}` : filled;
}

/** One part of a path. A name of dots only would lead to another call, however it is written. */
function segment(value: string): string {
  if (value === "" || value === "." || value === "..")
    throw new Refusal(404, { detail: `There is nothing called “${value}”.`, code: "console.name" });
  return encodeURIComponent(value);
}

async function answerOf(response: Response): Promise<unknown> {
  const text = await response.text();
  const isJson = (response.headers.get("content-type") ?? "").includes("json");
  const body = isJson && text ? JSON.parse(text) : text;
  if (response.ok) return body;
  if (response.status === 401) window.dispatchEvent(new Event("beforehand:login"));
  throw new Refusal(response.status, isJson ? body : { detail: text || response.statusText });
}

export async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { credentials: "same-origin", ...init });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Refusal(0, { detail: "The server cannot be reached.", code: "server.unreachable" });
  }
}

export async function get<P extends Has<"get">>(
  path: P,
  given: { path?: PathOf<paths[P]["get"]>; query?: QueryOf<paths[P]["get"]>; signal?: AbortSignal } = {},
): Promise<Answer<paths[P]["get"]>> {
  const url = address(path, given.path as object, given.query as object);
  return (await answerOf(await reach(url, { signal: given.signal }))) as Answer<paths[P]["get"]>;
}

/** A question that needs a body, such as a check or a dry run: it changes nothing, so it has neither key nor deadline. */
export async function ask<P extends Has<"post">>(
  path: P,
  given: { path?: Written["path"]; query?: Written["query"]; body?: unknown; signal?: AbortSignal } = {},
): Promise<Answer<paths[P]["post"]>> {
  const url = address(path as string, given.path, given.query);
  const body = JSON.stringify(given.body ?? {});
  const headers = { "Content-Type": "application/json" };
  const response = await reach(url, { method: "POST", headers, body, signal: given.signal });
  return (await answerOf(response)) as Answer<paths[P]["post"]>;
}

export interface Written {
  path?: Record<string, string | number>;
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
  /** A body that is sent as it is, such as a file in YAML. */
  raw?: { type: string; text: string };
  headers?: Record<string, string>;
  /** Longer where the server itself says that it takes its time, such as a plan of thousands of steps. */
  patienceMs?: number;
}

export async function write<V extends Exclude<Verb, "get">, P extends Has<V>>(
  verb: V,
  path: P,
  given: Written = {},
): Promise<Answer<paths[P][V]>> {
  const patience = given.patienceMs ?? PATIENCE_MS;
  const withdraw = new AbortController();
  const timer = setTimeout(() => withdraw.abort(), patience);
  const deadline = Math.round(serverNow() + patience);
  const headers: Record<string, string> = {
    "Idempotency-Key": newKey(),
    "Beforehand-Deadline": String(deadline),
    ...given.headers,
  };
  if (given.body !== undefined) headers["Content-Type"] = "application/json";
  if (given.raw !== undefined) headers["Content-Type"] = given.raw.type;
  const body = given.raw?.text ?? (given.body === undefined ? undefined : JSON.stringify(given.body));
  const url = address(path as string, given.path, given.query);
  const init = { method: verb.toUpperCase(), headers, body };
  try {
    const response = await reach(url, { ...init, signal: withdraw.signal });
    const answer = await answerOf(response);
    tellUnrecorded(answer);
    return answer as Answer<paths[P][V]>;
  } catch (error) {
    const isLate = withdraw.signal.aborted;
    // A line that breaks may do so before the command has reached the server, or after.
    if (!isLate && asRefusal(error).status !== 0) throw error;
    const noAnswer = isLate
      ? `No answer came within ${patience / 1_000} seconds, so it was withdrawn.`
      : "The line to the server broke.";
    throw new Late(noAnswer, () => settle(url, init, deadline, noAnswer));
  } finally {
    clearTimeout(timer);
  }
}

const ASK_AGAIN_MS = 1_000;
const ASK_FOR_MS = 60_000;

/**
 * What became of a command that was not answered in time. It is asked for by its key with a deadline long past, so that
 * it can only be told and never be done by this. That it was not done is certain once the server's clock is past the
 * command's own deadline.
 */
async function settle(url: string, init: RequestInit, deadline: number, noAnswer: string): Promise<unknown> {
  const headers = { ...(init.headers as Record<string, string>), "Beforehand-Deadline": LONG_PAST };
  for (const until = performance.now() + ASK_FOR_MS; performance.now() < until; ) {
    await new Promise((wake) => setTimeout(wake, ASK_AGAIN_MS));
    try {
      return await answerOf(await reach(url, { ...init, headers, signal: AbortSignal.timeout(ASK_AGAIN_MS * 3) }));
    } catch (error) {
      const said = error instanceof Refusal ? error : null;
      if (said?.code === "command.expired") {
        if (Number(said.body.now) > deadline) throw new NotDone(noAnswer);
      } else if (said !== null && isFinal(said)) throw said;
    }
  }
  throw new Refusal(0, { detail: "The server has not said whether it was done.", code: "command.unknown" });
}

const LONG_PAST = "1";
/** Whether the server itself said no, and not what stands before it or the line. */
const isFinal = ({ status, code }: Refusal): boolean => status > 0 && status < 500 && code !== "request.under_way";

/** `crypto.randomUUID` is missing where the page comes over plain HTTP from another machine. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  return new Refusal(0, { detail: error instanceof Error ? error.message : String(error), code: "console.error" });
}
