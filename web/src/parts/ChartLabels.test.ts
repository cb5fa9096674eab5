import { describe, expect, it } from "vitest";
import { shortLabels, shownEvery } from "./ChartLabels";

describe("names under a chart", () => {
  it("leave out the day they share", () => {
    expect(shortLabels(["2026-11-15 00:00", "2026-11-15 01:00"])).toEqual(["00:00", "01:00"]);
    expect(shortLabels(["2026-11-15 23:00", "2026-11-16 00:00"])[0]).toBe("2026-11-15 23:00");
    expect(shortLabels(["a".repeat(30)])[0]).toHaveLength(18);
  });

  it("thin out where there is no room", () => {
    const hours = Array.from({ length: 24 }, (_, hour) => `${hour}:00`.padStart(5, "0"));
    expect(shownEvery(hours, 2_000)).toHaveLength(24);
    expect(shownEvery(hours, 390).length).toBeLessThan(7);
    expect(shownEvery(hours, 10)).toEqual([0]);
  });
});
