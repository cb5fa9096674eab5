import { describe, expect, it } from "vitest";
import { overlaps } from "@/parts/map/labels";
import { inLines, layoutOf, shortened } from "./layout";
import { type CellDocument, hopKey, momentAt, wayOf } from "./model";

const document: CellDocument = {
  name: "weld",
  positions: [
    { name: "Home", role: "home" },
    { name: "Tool_Weld_Safe_Position", role: "safe" },
    { name: "Tool_Weld_Position", role: "stand" },
  ],
  moves: [
    { from: "Home", to: "Tool_Weld_Safe_Position" },
    { from: "Tool_Weld_Safe_Position", to: "Tool_Weld_Position" },
  ],
  tools: [],
  routines: [],
};

describe("a cell's picture", () => {
  it("places positions without coordinates and names that cover nothing", () => {
    const { spots, labels } = layoutOf(document, { strong: new Set(), here: null, tool: "" }, 640);
    expect(new Set([...spots.values()].map(({ x }) => x)).size).toBe(3);
    expect(labels.map((label) => label.key).sort()).toEqual(["Home", "Tool_Weld_Position", "Tool_Weld_Safe_Position"]);
    for (const one of labels)
      for (const other of labels) if (one !== other) expect(overlaps(one.box, other.box)).toBe(false);
    expect(inLines("Tool_Weld_Safe_Position")).toEqual(["Tool_Weld_", "Safe_Position"]);
  });
});

describe("a cell's picture on a phone", () => {
  const long = (number: number) => `Extraordinarily_Long_Fixture_Position_Behind_The_Positioner_${number}`;
  const numbers = [1, 2, 3, 4, 5];
  const crowded: CellDocument = {
    ...document,
    positions: [
      { name: "Home", x: 0, y: 0 },
      ...numbers.map((number) => ({ name: long(number), x: 4, y: number - 3 })),
      ...numbers.map((number) => ({ name: `Safe_${number}`, x: 2, y: number - 3 })),
    ],
    moves: numbers.map((number) => ({ from: "Home", to: long(number) })),
  };

  it("has no name over another or over its edge, and always the one where the robot stands", () => {
    const strong = new Set(numbers.map(long));
    for (const here of ["Home", long(3), "Safe_5"]) {
      const { labels, width, height, spots } = layoutOf(crowded, { strong, here, tool: "Welder" }, 320);
      const at = spots.get(here) ?? { x: 0, y: 0 };
      const tag = { left: at.x + 9, right: at.x + 60, top: at.y - 18, bottom: at.y - 8 };
      expect(labels.map((label) => label.key)).toContain(here);
      for (const one of labels) {
        expect(one.box.left).toBeGreaterThanOrEqual(0);
        expect(one.box.right).toBeLessThanOrEqual(width);
        expect(one.box.bottom).toBeLessThanOrEqual(height);
        if (one.key !== here) expect(overlaps(one.box, tag)).toBe(false);
        for (const other of labels) if (one !== other) expect(overlaps(one.box, other.box)).toBe(false);
      }
    }
  });

  it("keeps both ends of a name that is too long", () => {
    expect(shortened("Behind_The_Positioner_12", 12)).toBe("Behind…er_12");
    expect(shortened("Home", 12)).toBe("Home");
  });
});

describe("a preview's moment", () => {
  const timeline = [
    { stepId: 1, startS: 0, endS: 2, action: "move", from: "Home", position: "A", tool: "none" },
    { stepId: 2, startS: 2, endS: 5, action: "routine", position: "A", tool: "Welder" },
  ];
  const start = { position: "Home", tool: "none" };

  it("moves the robot along the step under the scrubber", () => {
    expect(momentAt(timeline, start, 0.5)).toMatchObject({ from: "Home", to: "A", share: 0.25, tool: "none" });
    expect(momentAt(timeline, start, 3)).toMatchObject({ from: "A", to: "A", tool: "none", stepId: 2 });
    expect(momentAt(timeline, start, 5)).toMatchObject({ from: "A", to: "A", tool: "Welder", stepId: null });
  });
});

describe("a plan's way", () => {
  it("knows what is done, under way and to come", () => {
    const steps = [
      { tool: "cell.move", args: { target: "A" }, status: "completed" },
      { tool: "cell.move", args: { target: "B" }, status: "running" },
      { tool: "cell.routine", args: { target: "weld", position: "B" }, description: "Weld", status: "pending" },
    ];
    const way = wayOf(steps, "Home");
    expect(way.hops.get(hopKey("Home", "A"))).toBe("done");
    expect(way.hops.get(hopKey("B", "A"))).toBe("now");
    expect(way.stops.get("B")).toEqual([{ says: "Weld", progress: "ahead" }]);
  });
});
