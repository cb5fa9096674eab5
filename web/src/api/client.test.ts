import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Late, NotDone, write } from "./client";

const answer = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
const broken = () => Promise.reject(new TypeError("Failed to fetch"));

/** What the server answers, one after the other; the last one stays. */
function server(...answers: (() => Promise<Response>)[]) {
  const asked: RequestInit[] = [];
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    asked.push(init);
    return ((answers.length > 1 ? answers.shift() : answers[0]) as () => Promise<Response>)();
  });
  return asked;
}

const hold = () => write("post", "/api/v1/hold").catch((error: unknown) => error);

describe("a command whose line breaks", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("is not called refused: the server is asked by its key, and says that it was done", async () => {
    const asked = server(broken, broken, async () => answer(200, { held: true }));
    const told = await hold();
    expect(told).toBeInstanceOf(Late);
    expect((told as Late).message).toContain("Whether it was done is not known yet");
    const settled = (told as Late).settled();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await settled).toEqual({ held: true });
    const headers = asked.map((init) => init.headers as Record<string, string>);
    expect(new Set(headers.map((given) => given["Idempotency-Key"])).size).toBe(1);
    expect(headers.slice(1).map((given) => given["Beforehand-Deadline"])).toEqual(["1", "1"]);
  });

  it("is called not done once the server says so after the deadline", async () => {
    const late = () => Promise.resolve(answer(409, { code: "command.expired", now: Date.now(), detail: "late" }));
    server(broken, late);
    const settled = ((await hold()) as Late).settled().catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(10_000);
    const told = await settled;
    expect(told).toBeInstanceOf(NotDone);
    expect((told as NotDone).message).toBe(
      "The line to the server broke. The server says that it was not done, and will not do it.",
    );
  });

  it("is refused where the server itself says no", async () => {
    server(async () => answer(409, { detail: "Not now.", code: "no" }));
    const told = await hold();
    expect(told).not.toBeInstanceOf(Late);
    expect((told as Error).message).toBe("Not now.");
  });
});
