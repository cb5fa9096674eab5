import { describe, expect, it } from "vitest";
import { aheadOf, heldBy, sharesGround, waitsOf } from "./held";
import type { Robot } from "./model";

const nodes = new Map([
  ["A", { x: 0, y: 0 }],
  ["B", { x: 4, y: 0 }],
  ["C", { x: 8, y: 0 }],
]);
const robot = (given: Partial<Robot>): Robot => ({ robotId: "R1", scene: "hall", says: "", ...given }) as Robot;
const document = { name: "hall", nodes: [], edges: [], worksites: [], robots: [] };

describe("held ground", () => {
  it("is the way ahead of a robot, and all of it where it is not seen to be on it", () => {
    expect(aheadOf(["A", "B", "C"], { nodeId: "A" })).toEqual(["B", "C"]);
    expect(aheadOf(["A", "B", "C"], { nodeId: "C" })).toEqual([]);
    expect(aheadOf(["A", "B"], { nodeId: "elsewhere" })).toEqual(["A", "B"]);
    expect(aheadOf(["A", "B"], undefined)).toEqual(["A", "B"]);
  });

  it("begins where the robot is and is as wide as its body", () => {
    const robots = [robot({ way: ["A", "B", "C"] }), robot({ robotId: "R2" }), robot({ robotId: "unseen" })];
    const poseOf = (id: string) => (id === "unseen" ? null : { x: 1, y: 0 });
    const held = heldBy(robots, nodes, poseOf, () => ({ nodeId: "A", nextNodeId: "B" }), new Map([["R1", 2.2]]));
    expect(held).toEqual([
      { robotId: "R1", points: [{ x: 1, y: 0 }, nodes.get("B"), nodes.get("C")], widthM: 2.2 },
      { robotId: "R2", points: [{ x: 1, y: 0 }], widthM: 1 },
    ]);
  });

  it("is shared out only where the scene says so", () => {
    expect(sharesGround(document)).toBe(false);
    expect(sharesGround({ ...document, settings: { trafficMode: "NONE" } })).toBe(false);
    expect(sharesGround({ ...document, settings: { trafficMode: "RESERVE" } })).toBe(true);
  });
});

describe("waits", () => {
  it("lead from one that waits to the one it waits for, if both are seen", () => {
    const robots = [robot({ waitsFor: "R2" }), robot({ robotId: "R2" }), robot({ robotId: "R3", waitsFor: "gone" })];
    const poses = new Map([
      ["R1", { x: 0, y: 0 }],
      ["R2", { x: 4, y: 0 }],
      ["R3", { x: 8, y: 0 }],
    ]);
    expect(waitsOf(robots, (id) => poses.get(id) ?? null)).toEqual([{ from: { x: 0, y: 0 }, to: { x: 4, y: 0 } }]);
  });
});
