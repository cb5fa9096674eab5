import { describe, expect, it } from "vitest";
import { difference } from "./difference";
import { lineOf, partsOf } from "./lines";
import { sceneText } from "./text";

const scene = {
  kind: "fleet",
  name: "hall",
  bounds: [0, 0, 4.5],
  robots: [
    { robotId: "RB-01", link: "sim" },
    { robotId: "true", meta: {}, link: { kind: "wire", host: "10.0.0.1", note: "a: b" } },
  ],
  streams: [{ streamId: "out", params: { pickGroup: Array.from({ length: 20 }, (_, at) => `IN_${at}`), drop: null } }],
};

const text = sceneText(scene);
const line = (path: string, of = text) => of.split("\n")[lineOf(of, { path }) ?? -1];

describe("a scene as text", () => {
  it("is written as by hand, and quotes what would mean something else", () => {
    expect(text).toContain("kind: fleet\nname: hall\nbounds: [0, 0, 4.5]\nrobots:\n  - {robotId: RB-01, link: sim}\n");
    expect(text).toContain('robotId: "true"');
    expect(text).toContain('host: "10.0.0.1", note: "a: b"');
    expect(text).toContain("\nstreams:\n  - streamId: out\n    params:\n      pickGroup:\n        - IN_0\n");
  });

  it("finds the line of a path, in YAML and in JSON", () => {
    expect(partsOf("streams[0].params.pickGroup[3]")).toEqual(["streams", 0, "params", "pickGroup", 3]);
    expect(line("name")).toBe("name: hall");
    expect(line("robots[1].link.host")).toContain('"true"');
    expect(line("streams[0].params.pickGroup[3]")).toBe("        - IN_3");
    expect(line("streams[0].params.drop")).toContain("drop: null");
    const json = JSON.stringify(scene, null, 2);
    expect(line("robots[1].link.host", json)).toContain("10.0.0.1");
    expect(line("streams[0].params.pickGroup[3]", json)).toContain("IN_3");
    expect(line("robots[1].missing", json)).toContain("{");
  });

  it("takes the line a syntax error names", () => {
    expect(lineOf("a", { says: "The scene is neither JSON nor YAML: x, line 3, column 4." })).toBe(2);
    expect(lineOf("a", { says: "A scene is an object." })).toBeNull();
  });

  it("says what changed, with lines around it", () => {
    const before = "a\nb\nc\nd\ne\nf\ng\nh";
    expect(difference(before, before)).toBe("");
    expect(difference(before, before.replace("b", "B"))).toBe("@@ line 1 @@\n a\n-b\n+B\n c\n d");
    expect(difference(before, "a\nb\nc\nd\ne\nf\ng\nnew\nh")).toBe("@@ line 6 @@\n f\n g\n+new\n h");
  });
});
