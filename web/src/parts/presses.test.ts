import { describe, expect, it } from "vitest";
import { isStray } from "./presses";

const hold = document.createElement("button");
const release = document.createElement("button");
const press = (at: number, on: Element | null, said = "Hold", x = 100) => ({ at, x, y: 50, on, said });

describe("a press right after another one", () => {
  it("is dropped where something else has come under the finger", () => {
    expect(isStray(press(0, hold), press(150, release))).toBe(true);
    expect(isStray(press(0, hold, "Hold"), press(150, hold, "Release"))).toBe(true);
  });

  it("counts on the same thing, elsewhere, and later", () => {
    expect(isStray(press(0, hold), press(150, hold))).toBe(false);
    expect(isStray(press(0, hold), press(150, release, "Release", 300))).toBe(false);
    expect(isStray(press(0, hold), press(900, release))).toBe(false);
    expect(isStray(press(0, null), press(150, release))).toBe(false);
  });
});
