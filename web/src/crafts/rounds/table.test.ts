import { describe, expect, it } from "vitest";
import { type Question, resultsOf, wordsOf } from "./results";
import { csvOf, fieldOf, isTime, sorted, tabbed } from "./table";

const rows = [
  ["RB-10", 2],
  ["RB-2", null],
  ["RB-1", 11],
];

describe("a table", () => {
  it("is sorted as a person expects it, empty cells last either way", () => {
    expect(sorted(rows, { column: 0, down: false }).map((row) => row[0])).toEqual(["RB-1", "RB-2", "RB-10"]);
    expect(sorted(rows, { column: 1, down: true }).map((row) => row[1])).toEqual([11, 2, null]);
    expect(sorted(rows, null)).toBe(rows);
  });

  it("is written so that no spreadsheet runs it", () => {
    expect(
      csvOf(
        ["a", "b"],
        [
          ['say "hi", you', -3],
          ["=1+1", null],
        ],
      ),
    ).toBe('a,b\r\n"say ""hi"", you",-3\r\n\'=1+1,\r\n');
    expect(tabbed(["a"], [["two\nlines"]])).toBe("a\ntwo lines");
  });

  it("knows which columns are ids and times", () => {
    expect(fieldOf("robot id")).toBe("robotId");
    expect(isTime("2026-11-15T20:37:26.468Z")).toBe(true);
    expect(isTime("2026-11-15 00:00")).toBe(false);
  });
});

describe("an answer", () => {
  it("is made of the results that are named, and its table is not written out in it", () => {
    const shown = { says: "2 tasks.", columns: ["task id"], rows: [["t1"]] };
    const question = {
      answer: "2 tasks.\n\ntask id\nt1",
      synthesis_inputs: { a: { from_sub_goal: 2, slot: "formatted_results" } },
      sub_goals: [{ id: 2, outputs: { formatted_results: shown } }],
    } as unknown as Question;
    expect(resultsOf(question)).toEqual([shown]);
    expect(wordsOf(question)).toBe("2 tasks.");
  });
});
