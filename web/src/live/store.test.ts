import { beforeEach, describe, expect, it, vi } from "vitest";
import type { FromLive, LogEvent, ToLive } from "./protocol";
import { LiveStore } from "./store";

const line = vi.hoisted(() => ({ hear: (_: unknown) => {}, sent: [] as unknown[] }));
vi.mock("./line", () => ({
  openLine: (hear: (message: unknown) => void) => {
    line.hear = hear;
    return { send: (message: unknown) => line.sent.push(message) };
  },
}));

const hear = (message: FromLive) => line.hear(message);
const event = (seq: number): LogEvent => ({ seq, ts: "", kind: "k", correlationId: "", about: {}, data: {} });

/** A server whose state is as it was after this event. */
function stateAt(seq: number): void {
  const answer = (body: unknown) =>
    new Response(JSON.stringify(body), { headers: { "content-type": "application/json" } });
  vi.stubGlobal("fetch", async (url: string) =>
    answer(url.endsWith("/me") ? { name: "local", role: "admin" } : { seq }),
  );
}

describe("what a window knows", () => {
  beforeEach(() => {
    line.sent = [];
    vi.spyOn(window, "requestAnimationFrame").mockImplementation((draw) => {
      draw(0);
      return 0;
    });
  });

  it("tells of every event once, also of those that come again after a reading of an older state", async () => {
    stateAt(7);
    const store = new LiveStore([], ["k"]);
    const told: number[] = [];
    store.onEvent(({ seq }) => told.push(seq));
    await store.start();
    hear({ type: "event", event: event(8) });
    hear({ type: "event", event: event(9) });
    stateAt(8);
    await store.read();
    expect(line.sent.at(-1)).toEqual({ type: "join", seq: 8 } satisfies ToLive);
    hear({ type: "event", event: event(9) });
    hear({ type: "event", event: event(10) });
    expect(told).toEqual([8, 9, 10]);
    expect(store.current().seq).toBe(10);
  });

  it("tells of the events of another log, whose numbers begin anew", async () => {
    stateAt(70);
    const store = new LiveStore([], ["k"]);
    const told: number[] = [];
    store.onEvent(({ seq }) => told.push(seq));
    await store.start();
    hear({ type: "event", event: event(71) });
    stateAt(1);
    hear({ type: "gap" });
    await vi.waitFor(() => expect(store.current().seq).toBe(1));
    hear({ type: "event", event: event(2) });
    expect(told).toEqual([71, 2]);
  });
});
