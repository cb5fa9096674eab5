import { describe, expect, it } from "vitest";
import type { Frame } from "@/live/protocol";
import { Tracks } from "./tracks";
import { Ways } from "./ways";

const hall = new Ways({
  name: "hall",
  nodes: [
    { id: "A", x: 0, y: 0 },
    { id: "B", x: 10, y: 0 },
    { id: "C", x: 10, y: 10 },
    { id: "D", x: 90, y: 90 },
  ],
  edges: [
    { from: "A", to: "B" },
    { from: "B", to: "C" },
    { from: "A", to: "C", lengthM: 500 },
    { from: "C", to: "D", oneWay: true },
  ],
  worksites: [],
  robots: [],
});

const said = (ts: number, x: number, y: number, nodeId: string, nextNodeId: string | null): Frame => ({
  kind: "robots",
  ts,
  robots: [{ robotId: "R", x, y, heading: 0, nodeId, nextNodeId }],
});

describe("tracks", () => {
  it("follow the corner a robot went round", () => {
    const tracks = new Tracks(hall);
    tracks.take(said(0, 5, 0, "A", "B"), 0);
    tracks.take(said(1_000, 10, 5, "B", "C"), 1_000);
    expect(tracks.poseOf("R", 1_000, false)).toMatchObject({ x: 5, y: 0 });
    expect(tracks.poseOf("R", 1_500, false)).toMatchObject({ x: 10, y: 0 });
    expect(tracks.poseOf("R", 1_750, false)).toMatchObject({ x: 10, y: 2.5 });
    expect(tracks.poseOf("R", 9_000, false)).toMatchObject({ x: 10, y: 5 });
  });

  it("begin the next glide where the robot is shown, and jump where motion is not wanted", () => {
    const tracks = new Tracks(hall);
    tracks.take(said(0, 0, 0, "A", "B"), 0);
    tracks.take(said(1_000, 4, 0, "A", "B"), 1_000);
    tracks.take(said(1_500, 6, 0, "A", "B"), 1_500);
    expect(tracks.poseOf("R", 1_500, false)?.x).toBeCloseTo(2);
    expect(tracks.poseOf("R", 1_500, true)?.x).toBe(6);
  });

  it("know a robot that stands", () => {
    const tracks = new Tracks(hall);
    for (const ts of [0, 500, 1_000, 1_500]) tracks.take(said(ts, 1, 1, "A", null), ts);
    expect(tracks.stands("R")).toBe(true);
  });
});

describe("ways", () => {
  it("are the shortest ones, and go no way backwards that is one-way", () => {
    expect(hall.between("A", "C")).toEqual([
      expect.objectContaining({ id: "A" }),
      expect.objectContaining({ id: "B" }),
      expect.objectContaining({ id: "C" }),
    ]);
    expect(hall.between("D", "A")).toBeNull();
  });
});
