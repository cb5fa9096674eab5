import { describe, expect, it } from "vitest";
import { inLanes, type Span } from "./lanes";
import { laidOut } from "./layout";
import { brokenBy, goalsOf, moved, needsOf, type Step, stateOfAll } from "./steps";

function step(id: string, more: Partial<Step> = {}): Step {
  return { id, order: 1, description: "", tool: "wait", args: {}, dependsOn: [], status: "pending", ...more };
}

const CHAIN = [step("a"), step("b", { dependsOn: ["a"] }), step("c", { args: { text: "$b.x" } })];

describe("steps", () => {
  it("need what they say and what their arguments use", () => {
    const known = new Set(["a", "b", "c"]);
    expect(CHAIN.map((one) => needsOf(one, known))).toEqual([[], ["a"], ["b"]]);
  });

  it("name the dependency that a move breaks", () => {
    expect(brokenBy(moved(CHAIN, "c", 0), "c")).toEqual({ later: "c", earlier: "b" });
    expect(brokenBy(moved(CHAIN, "a", 2), "a")).toEqual({ later: "b", earlier: "a" });
    expect(brokenBy(moved(CHAIN, "b", 1), "b")).toBeNull();
  });

  it("are done together only when all are, and a failure is loudest", () => {
    expect(stateOfAll([step("a", { status: "completed" }), step("b", { status: "skipped" })])).toBe("completed");
    expect(stateOfAll([step("a", { status: "completed" }), step("b", { status: "denied" })])).toBe("denied");
    expect(stateOfAll([step("a", { status: "completed" }), step("b")])).toBe("running");
  });

  it("are folded under their goal, and the layout does not hang on their order", () => {
    const goal = { index: 1, says: "Weld" };
    const steps = [step("a", { goal }), step("b", { goal, dependsOn: ["a"] }), step("c", { dependsOn: ["b"] })];
    expect(goalsOf(steps)[0]?.steps.length).toBe(2);
    const [boxes, wires] = laidOut(steps, new Set(), false);
    expect(boxes.map((box) => box.id)).toEqual(["goal:1", "c"]);
    expect(wires.map((wire) => wire.id)).toEqual(["goal:1 c"]);
    const [open] = laidOut([...steps].reverse(), new Set(["1"]), true);
    const [again] = laidOut(steps, new Set(["1"]), true);
    const places = (all: typeof open) => Object.fromEntries(all.map((box) => [box.id, [box.x, box.y]]));
    expect(places(open)).toEqual(places(again));
  });
});

describe("lanes", () => {
  it("keep what overlaps apart and a tool together", () => {
    const span = (key: string, lane: string, startS: number, endS: number): Span => ({
      ...{ key, lane, startS, endS },
      ...{ stepId: key, label: key, state: "running" },
    });
    const lanes = inLanes([
      span("a", "read", 0, 2),
      span("b", "read", 1, 3),
      span("c", "read", 2, 4),
      span("d", "ask", 0, 1),
    ]);
    expect(lanes.map((lane) => [lane.name, lane.spans.map((one) => one.key)])).toEqual([
      ["ask", ["d"]],
      ["read", ["a", "c"]],
      ["read", ["b"]],
    ]);
  });
});
