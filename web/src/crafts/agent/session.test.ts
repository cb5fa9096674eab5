import { describe, expect, it } from "vitest";
import type { Schemas } from "@/api/client";
import { pastOf } from "./past";
import { suggestions, thingsOf } from "./session";

const TEXT = "bed1: at (1.2, 6.7), for: sit, lie\nfridge1: at (11.6, 0.6), closed, for: open, close";

describe("what is around a body", () => {
  it("is read line by line", () => {
    expect(thingsOf(TEXT).map(({ name, verbs }) => [name, verbs])).toEqual([
      ["bed1", ["sit", "lie"]],
      ["fridge1", ["open", "close"]],
    ]);
  });

  it("says what could be started", () => {
    expect(suggestions(thingsOf(TEXT))).toContain("sitting on bed1");
    expect(suggestions(thingsOf(TEXT))).toContain("opening fridge1");
  });
});

describe("a session of the past", () => {
  const ended = { sessionId: "s", status: "ended", startedAt: "2024-01-01T00:00:00Z", goal: "bring cup1 to shelf1" };
  const stateOf = (more: object) => pastOf({ ...ended, ...more } as Schemas["SessionShape"]).state;

  it("that ended without its goal is no success", () => {
    expect(stateOf({ goalReached: false })).toBe("missed");
    expect(stateOf({ goalReached: true })).toBe("ended");
    expect(stateOf({ goalReached: false, goal: null })).toBe("ended");
    expect(stateOf({ goalReached: false, status: "open" })).toBe("open");
  });
});
