import { describe, expect, it } from "vitest";
import { withoutName } from "./model";

describe("a sentence beside its name", () => {
  it("loses the name it begins with, and nothing else", () => {
    expect(withoutName("RB-02 is idle at A.", "RB-02")).toBe("is idle at A.");
    const held = "The transport from A to B is held. RB-02 reports an internal fault.";
    expect(withoutName(held, "RB-02")).toBe(held);
    expect(withoutName("RB-021 is idle.", "RB-02")).toBe("RB-021 is idle.");
  });
});
