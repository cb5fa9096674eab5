import { describe, expect, it } from "vitest";
import { clusterLabels, type LabelWish, overlaps, placeLabels, Taken } from "./labels";

function crowd(count: number, spread: number): LabelWish[] {
  let seed = 7;
  const next = () => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  return Array.from({ length: count }, (_, at) => ({
    key: `RB-${at}`,
    at: { x: next() * spread, y: next() * spread },
    size: { width: 44, height: 16 },
    reach: 12,
    rank: 0,
  }));
}

describe("labels", () => {
  it("never cover each other or a name, however many there are", () => {
    const taken = new Taken();
    const names = [{ left: 100, right: 190, top: 100, bottom: 116 }];
    for (const name of names) taken.add(name);
    const wishes = crowd(1_000, 900);
    const placed = placeLabels(wishes, { taken });
    const there = new Set(placed.map((one) => one.key));
    const left = wishes.filter((wish) => !there.has(wish.key));
    const clusters = clusterLabels(left, taken, () => ({ width: 30, height: 16 }));
    const boxes = [...names, ...placed.map((one) => one.box), ...clusters.map((one) => one.box)];
    const covered = boxes.filter((box, at) => boxes.slice(at + 1).some((other) => overlaps(box, other)));
    expect(covered).toEqual([]);
    expect(placed.length).toBeGreaterThan(100);
    expect(left.length).toBeGreaterThan(0);
  });

  it("thin out first, then cluster what shares a neighbourhood", () => {
    const same: LabelWish[] = Array.from({ length: 12 }, (_, at) => ({
      ...(crowd(1, 0)[0] as LabelWish),
      key: `R${at}`,
    }));
    const taken = new Taken();
    const placed = placeLabels(same, { taken });
    expect(placed.length).toBeGreaterThan(1);
    const left = same.filter((wish) => !placed.some((one) => one.key === wish.key));
    expect(left.length).toBeGreaterThan(1);
    const clusters = clusterLabels(left, new Taken(), () => ({ width: 20, height: 16 }));
    expect(clusters.map((one) => one.keys.length)).toEqual([left.length]);
  });

  it("keep the place they had while it is free", () => {
    const wish = { ...(crowd(1, 400)[0] as LabelWish), slot: 3 };
    expect(placeLabels([wish])[0]?.slot).toBe(3);
  });

  it("give way to what must be there", () => {
    const [one, other] = crowd(2, 0) as [LabelWish, LabelWish];
    const slots = ["above"] as const;
    const placed = placeLabels([
      { ...one, slots },
      { ...other, slots, rank: Infinity },
    ]);
    expect(placed.map((label) => label.key)).toEqual([other.key]);
  });

  it("must some be there without room, cover as little as can be and stay inside", () => {
    const within = { width: 100, height: 60 };
    const wish = { ...(crowd(1, 0)[0] as LabelWish), at: { x: 96, y: 30 }, rank: Infinity };
    const taken = new Taken();
    taken.add({ left: 0, right: 100, top: 0, bottom: 40 });
    const [placed] = placeLabels([wish], { taken, within });
    expect(placed?.box).toMatchObject({ left: 56, right: 100, top: 42, bottom: 58 });
    taken.add({ left: 0, right: 100, top: 41, bottom: 60 });
    const box = placeLabels([wish], { taken, within })[0]?.box;
    expect(box?.right).toBeLessThanOrEqual(within.width);
    expect(box?.bottom).toBeLessThanOrEqual(within.height);
  });
});
