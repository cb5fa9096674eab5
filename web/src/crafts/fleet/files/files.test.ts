import { describe, expect, it } from "vitest";
import { type Kept, linesOf, nameFor, type Use } from "./files";

const kept = (name: string): Kept => ({ name, sha256: "0", bytes: 1, form: "recognition file", savedAt: "" });
const use = (scene: string, ...names: string[]): Use => ({
  scene,
  files: names.map((name) => ({ name, kept: false })),
  problems: [],
});

describe("files that scenes name", () => {
  const files = [kept("plt/a.plt"), kept("plt/b.plt")];
  const uses = [use("hall", "plt/a.plt", "plt/gone.plt"), use("dock", "plt/a.plt")];

  it("lists what is kept and what is only named", () => {
    const lines = linesOf(files, uses);
    expect(lines.map((line) => [line.name, line.kept !== undefined, line.scenes])).toEqual([
      ["plt/a.plt", true, ["hall", "dock"]],
      ["plt/b.plt", true, []],
      ["plt/gone.plt", false, ["hall"]],
    ]);
  });

  it("shows of one scene what it names", () => {
    expect(linesOf(files, uses, "dock").map((line) => line.name)).toEqual(["plt/a.plt"]);
    expect(linesOf(files, uses, "empty")).toEqual([]);
  });

  it("finds the folder by the ending", () => {
    expect(nameFor("My pallet.plt")).toBe("plt/My_pallet.plt");
    expect(nameFor("ft16.json")).toBe("fork/ft16.json");
  });
});
