import { describe, expect, it } from "vitest";
import { type Decision, firstVerb, isSharp, kindOf } from "./kinds";

const held = (evidence: object): Decision =>
  ({ kind: "hold", verbs: ["cancel", "resume", "redo"], evidence }) as unknown as Decision;

describe("the verb that stands out", () => {
  it("is the first that ends nothing", () => {
    expect(firstVerb(held({}))).toBe("resume");
    expect(kindOf(held({})).word).toBe("Held");
  });
  it("is to try again where a scene is not live, and letting it rest is asked once more", () => {
    const asked = { ...held({}), kind: "not_live", verbs: ["try-again", "deactivate"] } as Decision;
    expect(firstVerb(asked)).toBe("try-again");
    expect(isSharp("deactivate")).toBe(true);
    expect(kindOf(asked).word).toBe("Not live");
  });
  it("is none where nobody knows what has happened", () => {
    expect(firstVerb(held({ inDoubt: true }))).toBeUndefined();
    expect(kindOf(held({ inDoubt: true })).word).toBe("In doubt");
    expect(firstVerb({ ...held({}), kind: "inDoubt" } as Decision)).toBeUndefined();
  });
});
