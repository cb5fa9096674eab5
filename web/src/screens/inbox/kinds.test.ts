import { describe, expect, it } from "vitest";
import { type Decision, firstVerb, kindOf } from "./kinds";

const held = (evidence: object): Decision =>
  ({ kind: "hold", verbs: ["cancel", "resume", "redo"], evidence }) as unknown as Decision;

describe("the verb that stands out", () => {
  it("is the first that ends nothing", () => {
    expect(firstVerb(held({}))).toBe("resume");
    expect(kindOf(held({})).word).toBe("Held");
  });
  it("is none where nobody knows what has happened", () => {
    expect(firstVerb(held({ inDoubt: true }))).toBeUndefined();
    expect(kindOf(held({ inDoubt: true })).word).toBe("In doubt");
    expect(firstVerb({ ...held({}), kind: "inDoubt" } as Decision)).toBeUndefined();
  });
});
