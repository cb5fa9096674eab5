import { describe, expect, it } from "vitest";
import { duration } from "./time";

describe("a duration", () => {
  it("never tells sixty seconds as seconds", () => {
    expect([3, 59.4, 59.7, 119.7, 3_599.8].map(duration)).toEqual([
      "3.0 s",
      "59 s",
      "1 min 0 s",
      "2 min 0 s",
      "1 h 0 min",
    ]);
  });
});
