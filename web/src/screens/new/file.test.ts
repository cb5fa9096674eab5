import { describe, expect, it } from "vitest";
import { bodyOf } from "./file";
import { schemaOf } from "./Templates";

describe("a plan file as a body", () => {
  it("takes JSON as it is", () => {
    expect(bodyOf('[{"a": 1}]', "weld_star")).toEqual({ body: { plan: [{ a: 1 }], scene: "weld_star" } });
  });

  it("puts YAML under plan, blocks of text and all", () => {
    const text = "---\r\nname: Greet\r\nsteps:\r\n  - id: a\r\n    args:\r\n      content: |\r\n        Hello\r\n";
    expect(bodyOf(text).raw).toEqual({
      type: "application/yaml",
      text: "plan:\n  name: Greet\n  steps:\n    - id: a\n      args:\n        content: |\n          Hello\n",
    });
    expect(bodyOf("- a: 1", "x").raw?.text).toBe('plan:\n  - a: 1\nscene: "x"\n');
  });
});

describe("a template's parameters", () => {
  it("are required unless they have a default or say otherwise", () => {
    const schema = schemaOf({ a: { type: "string" }, b: { type: "integer", default: 3 }, c: { required: false } });
    expect(schema.required).toEqual(["a"]);
    expect(schema.properties?.b).toEqual({ type: "integer", description: undefined, default: 3 });
  });
});
