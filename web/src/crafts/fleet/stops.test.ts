import { describe, expect, it } from "vitest";
import type { Stream, Task } from "./model";
import { shareDone, stopsOf, wayOfRound } from "./stops";

const task = (given: Partial<Task>): Task =>
  ({
    taskId: "t",
    streamId: "s",
    scene: "hall",
    says: "",
    sourceId: "A",
    targetId: "X",
    status: "active",
    step: "pick",
    robotId: "R",
    ...given,
  }) as Task;
const words = (given: Task) => stopsOf(given).map((stop) => `${stop.what} ${stop.place} ${stop.word}`);

describe("stops of a task", () => {
  it("has a pick and a drop where it carries one pallet", () => {
    expect(words(task({}))).toEqual(["Pick A Now", "Drop X To come"]);
    expect(words(task({ step: "drop" }))).toEqual(["Pick A Done", "Drop X Now"]);
    expect(words(task({ step: "drop", status: "completed", endedTsMs: 1 }))).toEqual(["Pick A Done", "Drop X Done"]);
    expect(words(task({ robotId: null, status: "created" }))).toEqual(["Pick A To come", "Drop X To come"]);
  });

  it("tells of a batch which pallets are picked and dropped", () => {
    const legs: Task["legs"] = [
      { sourceId: "A", targetId: "X", state: "carried" },
      { sourceId: "B", targetId: "Y", state: "waiting" },
    ];
    const second = task({ legs, sourceId: "B", targetId: "Y" });
    expect(words(second)).toEqual(["Pick A Done", "Pick B Now", "Drop X To come", "Drop Y To come"]);
    expect(shareDone(second)).toBe(0.25);
    expect(words({ ...second, status: "held" })[1]).toBe("Pick B Held here");
    expect(words({ ...second, status: "failed", endedTsMs: 1 })[1]).toBe("Pick B Not done");
  });

  it("knows the way of a shuttle's round", () => {
    const shuttle = { kind: "shuttle", params: { pickGroup: ["A"], dropGroup: ["X"] } } as unknown as Stream;
    expect(wayOfRound(task({}), shuttle)).toBe("There");
    expect(wayOfRound(task({ sourceId: "X", targetId: "A" }), shuttle)).toBe("Back");
    expect(wayOfRound(task({}), undefined)).toBeNull();
  });
});
