import { beforeEach, describe, expect, it, vi } from "vitest";
import { Connection } from "./connection";
import type { FromLive } from "./protocol";

class FakeSource extends EventTarget {
  static all: FakeSource[] = [];
  closed = false;
  readonly url: string;

  constructor(url: string) {
    super();
    this.url = url;
    FakeSource.all.push(this);
  }

  say(name: string, data: unknown) {
    this.dispatchEvent(new MessageEvent(name, { data: JSON.stringify(data) }));
  }

  close() {
    this.closed = true;
  }
}

const event = (seq: number) => ({ seq, ts: "", kind: "k", correlationId: "", about: {}, data: {} });
const hello = (seq: number, log = "a") => ({
  now: 1,
  seq,
  boot: "b",
  version: "1",
  log,
  role: "leads",
  leader: null,
});
const source = (at = -1) => FakeSource.all.at(at) as FakeSource;
const seqs = (heard: FromLive[]) => heard.flatMap((one) => (one.type === "event" ? [one.event.seq] : []));

describe("the one connection", () => {
  beforeEach(() => {
    FakeSource.all = [];
    vi.useFakeTimers();
    vi.stubGlobal("EventSource", FakeSource);
  });

  function join(connection: Connection, seq: number): FromLive[] {
    const heard: FromLive[] = [];
    connection.take({}, (message) => heard.push(message), { type: "join", seq });
    return heard;
  }

  it("opens once, where the first window stands, however many windows join", () => {
    const connection = new Connection();
    join(connection, 7);
    join(connection, 9);
    expect(FakeSource.all.map((one) => one.url)).toEqual(["/api/v1/live?after=7"]);
  });

  it("gives a later window what happened since it read the state, and nothing twice", () => {
    const connection = new Connection();
    const first = join(connection, 7);
    source().say("hello", hello(7));
    for (const seq of [8, 9, 10]) source().say("message", event(seq));
    source().say("message", event(10));
    const second = join(connection, 9);
    expect(seqs(first)).toEqual([8, 9, 10]);
    expect(seqs(second)).toEqual([10]);
  });

  it("says where the server stands that is heard", () => {
    const heard = join(new Connection(), 7);
    source().say("hello", hello(7));
    source().say("now", { now: 2, seq: 7, role: "standsBy", leader: "http://other" });
    expect(heard.flatMap((one) => (one.type === "now" ? [one.standing] : []))).toEqual([
      { role: "leads", leader: null },
      { role: "standsBy", leader: "http://other" },
    ]);
  });

  it("says since when the log cannot be written, and that it can be again", () => {
    const heard = join(new Connection(), 7);
    source().say("hello", hello(7));
    source().say("now", { now: 2, seq: 7, role: "leads", leader: null, logAwaySince: 1 });
    source().say("now", { now: 3, seq: 7, role: "leads", leader: null });
    expect(heard.flatMap((one) => (one.type === "now" ? [one.standing.logAwaySince] : []))).toEqual([
      undefined,
      1,
      undefined,
    ]);
  });

  it("tells a window that is too far behind of a gap", () => {
    const connection = new Connection();
    join(connection, 7);
    source().say("hello", hello(7));
    expect(join(connection, 3)).toContainEqual({ type: "gap" });
  });

  it("is lost after two seconds of silence and goes on where it was", () => {
    const connection = new Connection();
    const heard = join(connection, 7);
    source().say("hello", hello(7));
    source().say("message", event(8));
    vi.advanceTimersByTime(2_000);
    expect(heard).toContainEqual({ type: "down" });
    vi.advanceTimersByTime(500);
    expect(source(0).closed).toBe(true);
    expect(source().url).toBe("/api/v1/live?after=8");
    source().say("hello", hello(8));
    expect(heard.at(-1)).toMatchObject({ type: "up", seq: 8 });
  });

  it("starts over where the server has another log", () => {
    const connection = new Connection();
    const heard = join(connection, 7);
    source().say("hello", hello(7));
    source().dispatchEvent(new Event("error"));
    vi.advanceTimersByTime(300);
    source().say("hello", hello(3, "another"));
    expect(heard).toContainEqual({ type: "gap" });
    expect(source().url).toBe("/api/v1/live?after=3");
  });
});
