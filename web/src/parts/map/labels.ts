/**
 * Labels that never cover each other, nor what is given as taken: each tries the places round its thing in turn and
 * keeps the one it had where that still is free. Where there is no room they thin out, and what is left over in one
 * neighbourhood is told by one label together.
 */
import type { Box, Point, Size } from "./view";

export interface LabelWish {
  key: string;
  /** The middle of the thing it belongs to, on the screen. */
  at: Point;
  size: Size;
  /** How far from that middle it stays. */
  reach: number;
  /** Higher is placed first; one that must be there (`Infinity`) is placed where it covers least, if it has no room. */
  rank: number;
  /** Where it stood before, so that it does not jump. */
  slot?: number;
  /** The places to try, by name; all where absent. */
  slots?: readonly Slot[];
}

export type Slot = "above" | "below" | "right" | "left" | "aboveRight" | "aboveLeft" | "belowRight" | "belowLeft";
export const SLOTS: readonly Slot[] = [
  "above",
  "below",
  "right",
  "left",
  "aboveRight",
  "aboveLeft",
  "belowRight",
  "belowLeft",
];

export interface Placed {
  key: string;
  box: Box;
  slot: number;
}

export interface Cluster {
  keys: string[];
  box: Box;
  at: Point;
}

/** Which way from its thing each place lies: across, down, and how much of the reach counts there. */
const WAYS: Record<Slot, readonly [number, number, number]> = {
  above: [0, -1, 1],
  below: [0, 1, 1],
  right: [1, 0, 1],
  left: [-1, 0, 1],
  aboveRight: [1, -1, 0.72],
  aboveLeft: [-1, -1, 0.72],
  belowRight: [1, 1, 0.72],
  belowLeft: [-1, 1, 0.72],
};

export function boxAt(wish: Pick<LabelWish, "at" | "size" | "reach">, slot: Slot): Box {
  const { at, size, reach } = wish;
  const [across, down, share] = WAYS[slot];
  const x = at.x + across * (reach * share + size.width / 2);
  const y = at.y + down * (reach * share + size.height / 2);
  return { left: x - size.width / 2, right: x + size.width / 2, top: y - size.height / 2, bottom: y + size.height / 2 };
}

export function overlaps(one: Box, other: Box): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

function shared(one: Box, other: Box): number {
  const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  return wide * (Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top));
}

const SQUARE = 64;

/** Boxes by the squares they touch, so that a thousand labels need not all be compared with each other. */
export class Taken {
  private readonly squares = new Map<number, Box[]>();

  add(box: Box): void {
    for (let x = Math.floor(box.left / SQUARE); x <= Math.floor(box.right / SQUARE); x += 1)
      for (let y = Math.floor(box.top / SQUARE); y <= Math.floor(box.bottom / SQUARE); y += 1) {
        const there = this.squares.get(x * 65_536 + y);
        if (there) there.push(box);
        else this.squares.set(x * 65_536 + y, [box]);
      }
  }

  /** The same boxes, to go on with. */
  copy(): Taken {
    const made = new Taken();
    for (const [square, boxes] of this.squares) made.squares.set(square, [...boxes]);
    return made;
  }

  /** How much of what is there a box would cover, in square pixels. */
  coveredBy(box: Box): number {
    const there = new Set<Box>();
    for (let x = Math.floor(box.left / SQUARE); x <= Math.floor(box.right / SQUARE); x += 1)
      for (let y = Math.floor(box.top / SQUARE); y <= Math.floor(box.bottom / SQUARE); y += 1)
        for (const other of this.squares.get(x * 65_536 + y) ?? []) if (overlaps(box, other)) there.add(other);
    return [...there].reduce((all, other) => all + shared(box, other), 0);
  }

  isFree(box: Box): boolean {
    for (let x = Math.floor(box.left / SQUARE); x <= Math.floor(box.right / SQUARE); x += 1)
      for (let y = Math.floor(box.top / SQUARE); y <= Math.floor(box.bottom / SQUARE); y += 1) {
        const there = this.squares.get(x * 65_536 + y);
        if (there) for (const other of there) if (overlaps(box, other)) return false;
      }
    return true;
  }
}

export interface Placing {
  /** Names and plates that are there already. */
  taken?: Taken;
  /** Outside of this nothing is placed. */
  within?: Size;
  /** What a free place costs beside being free, such as the lines it covers. */
  cost?: (box: Box) => number;
}

/** Every label that has room, the most important first. */
export function placeLabels(wishes: readonly LabelWish[], given: Placing = {}): Placed[] {
  const taken = given.taken ?? new Taken();
  const placed: Placed[] = [];
  const ordered = [...wishes].sort(
    (one, other) => other.rank - one.rank || (one.slot === undefined ? 1 : 0) - (other.slot === undefined ? 1 : 0),
  );
  for (const wish of ordered) {
    const found = bestSlot(wish, taken, given);
    if (found === null) continue;
    taken.add(found.box);
    placed.push(found);
  }
  return placed;
}

function bestSlot(wish: LabelWish, taken: Taken, given: Placing): Placed | null {
  const slots = wish.slots ?? SLOTS;
  let best: Placed | null = null;
  let least = Infinity;
  const first = wish.slot === undefined || wish.slot >= slots.length ? 0 : wish.slot;
  for (let turn = 0; turn < slots.length; turn += 1) {
    const slot = turn === 0 ? first : turn <= first ? turn - 1 : turn;
    const box = alongEdge(wish, slots[slot] as Slot, given.within);
    if (given.within && !isInside(box, given.within)) continue;
    if (!taken.isFree(box)) continue;
    const cost = given.cost?.(box) ?? 0;
    if (cost < least) [best, least] = [{ key: wish.key, box, slot }, cost];
    if (cost === 0) break;
  }
  return best === null && wish.rank === Infinity ? leastCovering(wish, slots, taken, given.within) : best;
}

/** Above and below its thing a label moves aside where it would stand over the edge of the picture. */
function alongEdge(wish: LabelWish, slot: Slot, within: Size | undefined): Box {
  const box = boxAt(wish, slot);
  if (within === undefined || (slot !== "above" && slot !== "below")) return box;
  const { left, right } = movedInside(box, within);
  return { ...box, left, right };
}

/** For what has no room and must be there all the same: inside, and where it covers least. */
function leastCovering(wish: LabelWish, slots: readonly Slot[], taken: Taken, within?: Size): Placed {
  const places = slots.map((name, slot) => ({ key: wish.key, box: movedInside(boxAt(wish, name), within), slot }));
  return places.reduce((best, place) => (taken.coveredBy(place.box) < taken.coveredBy(best.box) ? place : best));
}

function movedInside(box: Box, size: Size | undefined): Box {
  if (size === undefined) return box;
  const x = Math.max(0, -box.left) - Math.max(0, box.right - size.width);
  const y = Math.max(0, -box.top) - Math.max(0, box.bottom - size.height);
  return { left: box.left + x, right: box.right + x, top: box.top + y, bottom: box.bottom + y };
}

function isInside(box: Box, size: Size): boolean {
  return box.left >= 0 && box.top >= 0 && box.right <= size.width && box.bottom <= size.height;
}

/**
 * What found no room, told together: one label for each neighbourhood of `radius` pixels with at least two such things.
 * `sizeOf` says how large a label for so many is.
 */
export function clusterLabels(
  left: readonly LabelWish[],
  taken: Taken,
  sizeOf: (keys: readonly string[]) => Size,
  radius = 72,
  within?: Size,
): Cluster[] {
  const squares = new Map<string, LabelWish[]>();
  for (const wish of left) {
    const square = `${Math.floor(wish.at.x / radius)} ${Math.floor(wish.at.y / radius)}`;
    squares.set(square, [...(squares.get(square) ?? []), wish]);
  }
  const clusters: Cluster[] = [];
  for (const wishes of squares.values()) {
    if (wishes.length < 2) continue;
    const at = middleOf(wishes.map((wish) => wish.at));
    const keys = wishes.map((wish) => wish.key);
    const reach = Math.max(...wishes.map((wish) => wish.reach));
    const wish: LabelWish = { key: keys.join(" "), at, size: sizeOf(keys), reach, rank: 0 };
    const [found] = placeLabels([wish], { taken, within });
    if (found) clusters.push({ keys, box: found.box, at });
  }
  return clusters;
}

export function middleOf(points: readonly Point[]): Point {
  const sum = points.reduce((all, point) => ({ x: all.x + point.x, y: all.y + point.y }), { x: 0, y: 0 });
  return { x: sum.x / points.length, y: sum.y / points.length };
}
