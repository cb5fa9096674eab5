import { describe, expect, it } from "vitest";
import type { JsonSchema } from "@/parts/Form";
import { alternativeOf, choices, inValues, moved, placeIn, removed, renamed, turnedInto } from "./intent";

const move: JsonSchema = {
  title: "Move",
  properties: { action: { const: "move" }, position: { enum: ["Home", "Pos_1", "Pos_4"] } },
  required: ["action", "position"],
};
const weld: JsonSchema = {
  title: "Routine",
  properties: { action: { const: "routine" }, routine: { enum: ["weld"] }, position: { enum: ["Pos_1"] } },
  required: ["action", "routine"],
};
const schema: JsonSchema = { oneOf: [weld, move] };
const steps = [
  { action: "routine", routine: "weld", position: "Pos_1" },
  { action: "move", position: "Pos_4" },
  { action: "move", position: "Home", after: [1, 2] },
];

describe("an intent being corrected", () => {
  it("knows which kind a step is, and what is left to choose", () => {
    expect(alternativeOf(schema, steps[1] ?? {})?.title).toBe("Move");
    expect(Object.keys(choices(weld).properties ?? {})).toEqual(["routine", "position"]);
  });

  it("keeps the names that the other kind has too", () => {
    expect(turnedInto(move, steps[0] ?? {})).toEqual({ action: "move", position: "Pos_1" });
    expect(turnedInto(weld, steps[1] ?? {})).toEqual({ action: "routine" });
  });

  it("keeps `after` pointing at the same steps", () => {
    expect(removed(steps, 0)[1]).toEqual({ action: "move", position: "Home", after: [1] });
    expect(removed(steps, 2)).toHaveLength(2);
    expect(moved(steps, 0, 1)[2]).toEqual({ action: "move", position: "Home", after: [2, 1] });
  });

  it("drops an order that a person turned round", () => {
    expect(moved(steps, 2, -1)[1]).toEqual({ action: "move", position: "Home", after: [1] });
    expect(moved(steps, 2, 1)).toEqual(steps);
  });

  it("puts another name in place of one nobody knows", () => {
    expect(renamed("weld 19, go to Pos_9", "9", "Pos_3")).toBe("weld 19, go to Pos_3");
    expect(renamed("weld 9 and 19", "9", "Pos_3")).toBe("weld Pos_3 and 19");
    expect(renamed("go to the $moon", "$moon", "Home")).toBe("go to the Home");
  });

  it("finds the step a problem is about", () => {
    expect(placeIn("steps[12].position")).toBe(12);
    expect(placeIn("goal")).toBeNull();
    expect(inValues(steps[0] ?? {})).toBe("routine · weld · Pos 1");
  });
});
