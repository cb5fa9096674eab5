import { describe, expect, it } from "vitest";
import type { Past } from "@/crafts/craft";
import type { LogEvent } from "@/live/protocol";
import { csv } from "./files";
import { filterOf, passes } from "./filter";
import { readPage, seqAt } from "./log";

const past = (more: Partial<Past>): Past => ({
  key: "t1",
  to: "/",
  name: "Weld",
  state: "failed",
  at: 1_000,
  over: true,
  row: {},
  ...more,
});
const filter = (query: string) => filterOf(new URLSearchParams(query), 10_000_000);

describe("filters of the past", () => {
  it("pass what was under way in the span, and what has not ended", () => {
    const span = "from=1970-01-01T00:00:05Z&to=1970-01-01T00:00:09Z";
    expect(passes(past({ at: 1_000, endedAt: 6_000 }), filter(span))).toBe(true);
    expect(passes(past({ at: 1_000, endedAt: 4_000 }), filter(span))).toBe(false);
    expect(passes(past({ at: 1_000, over: false }), filter(span))).toBe(true);
    expect(passes(past({ at: 9_500, over: false }), filter(span))).toBe(false);
  });

  it("look for every word anywhere, and take a wrong date for none", () => {
    expect(passes(past({ why: "No path" }), filter("text=weld+PATH&from=never"))).toBe(true);
    expect(passes(past({ why: "No path" }), filter("text=weld+gripper"))).toBe(false);
    expect(passes(past({ state: "failed" }), filter("status=completed"))).toBe(false);
  });
});

const log = Array.from(
  { length: 3_000 },
  (_, at): LogEvent => ({
    seq: at + 1,
    ts: new Date((at + 1) * 1_000).toISOString(),
    kind: "k",
    correlationId: "",
    about: {},
    data: {},
    says: at % 100 === 0 ? "rare" : "usual",
  }),
);
const read = async ({ before = 9_999, limit = 100 }: { before?: number; limit?: number }) =>
  log.filter((event) => event.seq < before).slice(-limit);

describe("reading the log backwards", () => {
  it("gives pages, the newest first, until the start", async () => {
    const wanted = { ...filter(""), before: null };
    const first = await readPage(wanted, 50, undefined, read);
    expect([first.events[0]?.seq, first.events.length, first.next]).toEqual([3_000, 50, 2_951]);
    const last = await readPage({ ...wanted, before: 21 }, 50, undefined, read);
    expect([last.events.length, last.next]).toEqual([20, null]);
  });

  it("looks further back for rare words, and stops where the span begins", async () => {
    const rare = await readPage({ ...filter("text=rare"), before: null }, 25, undefined, read);
    expect(rare.events.map((event) => event.seq).slice(0, 2)).toEqual([2_901, 2_801]);
    expect(rare.events.length).toBe(25);
    const some = await readPage({ ...filter("text=rare"), from: 2_000_000, before: null }, 25, undefined, read);
    expect([some.events.length, some.next]).toEqual([10, null]);
  });

  it("finds the event at a time", async () => {
    expect(await seqAt(1_500_500, 3_000, read)).toBe(1_500);
    expect(await seqAt(0, 3_000, read)).toBe(1);
    expect(await seqAt(9e12, 3_000, read)).toBe(3_000);
  });
});

it("a table file quotes what needs it and makes no formulas", () => {
  expect(
    csv(
      ["a", "b"],
      [
        ['say "x", y', "=1+1"],
        [-1, null],
      ],
    ),
  ).toBe('a,b\r\n"say ""x"", y",\'=1+1\r\n-1,\r\n');
});
