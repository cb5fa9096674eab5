import { describe, expect, it } from "vitest";
import { glideAlong, poseAt, restOf, standing } from "./glide";

const corner = [
  { x: 0, y: 0 },
  { x: 4, y: 0 },
  { x: 4, y: 4 },
];

describe("a glide", () => {
  it("goes along its path and turns with it", () => {
    const glide = glideAlong(corner, Math.PI / 2, 1_000, 800);
    expect(poseAt(glide, 1_000)).toMatchObject({ x: 0, y: 0 });
    expect(poseAt(glide, 1_200)).toMatchObject({ x: 2, y: 0, heading: 0 });
    expect(poseAt(glide, 1_600)).toMatchObject({ x: 4, y: 2, heading: Math.PI / 2 });
  });

  it("is never ahead of what was said, however long nothing comes", () => {
    const glide = glideAlong(corner, 1, 0, 500);
    for (const at of [500, 501, 5_000, 1e9]) expect(poseAt(glide, at)).toEqual({ x: 4, y: 4, heading: 1 });
  });

  it("takes neither no time nor an age", () => {
    expect(glideAlong(corner, 0, 0, 0).tookMs).toBe(80);
    expect(glideAlong(corner, 0, 0, 60_000).tookMs).toBe(1_500);
  });

  it("leaves the corners that are still before it", () => {
    const glide = glideAlong(corner, 0, 0, 800);
    expect(restOf(glide, 100)).toEqual(corner.slice(1));
    expect(restOf(glide, 600)).toEqual(corner.slice(2));
    expect(restOf(glide, 900)).toEqual([]);
  });

  it("stands where a thing stands", () => {
    expect(poseAt(standing({ x: 3, y: 2, heading: 1 }), 99)).toEqual({ x: 3, y: 2, heading: 1 });
  });
});
