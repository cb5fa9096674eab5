/** Where a cell's positions are in its picture, and where their names have room. */
import { type LabelWish, type Placed, placeLabels, Taken } from "@/parts/map/labels";
import type { Box, Point } from "@/parts/map/view";
import type { CellDocument } from "./model";

const [FLATTEST, TALLEST] = [0.45, 0.85];
const TOP = 36;
const [LETTER, STRONG_LETTER, LINE] = [6.9, 7.6, 14];
/** How much of the picture one line of a name may take. */
const WIDEST = 0.42;
/** Names with more letters are written in two lines. */
const LONG = 14;

export interface Layout {
  width: number;
  height: number;
  spots: ReadonlyMap<string, Point>;
  labels: readonly (Placed & { lines: string[] })[];
}

export interface Seen {
  /** The names that count: where a plan goes. */
  strong: ReadonlySet<string>;
  /** Where the robot is: the one name that is always there. */
  here: string | null;
  /** What is written beside the robot. */
  tool: string;
}

/** `width` is that of the picture on the screen, so that names are as large in a small one. */
export function layoutOf(document: CellDocument, { strong, here, tool }: Seen, width: number): Layout {
  const { spots, height } = placed(document, width);
  const lines = document.moves.flatMap((move): [Point, Point][] => {
    const [from, to] = [spots.get(move.from), spots.get(move.to)];
    return from && to ? [[from, to]] : [];
  });
  const taken = new Taken();
  for (const { x, y } of spots.values()) taken.add({ left: x - 10, right: x + 10, top: y - 10, bottom: y + 10 });
  const robot = here === null ? undefined : spots.get(here);
  if (robot && tool) taken.add(tagOf(robot, tool));
  const most = Math.floor((width * WIDEST) / LETTER);
  const rowsOf = (name: string) => inLines(name).map((row) => shortened(row, most));
  const wishes = [...spots].map(([key, at]): LabelWish => {
    const rows = rowsOf(key);
    const letter = strong.has(key) || key === here ? STRONG_LETTER : LETTER;
    const size = { width: Math.max(...rows.map((row) => row.length)) * letter, height: rows.length * LINE };
    return { key, at, size, reach: 15, rank: key === here ? Infinity : strong.has(key) ? 1 : 0 };
  });
  const cost = (box: Box) => 4 * lines.filter(([from, to]) => crosses(box, from, to)).length;
  const labels = placeLabels(wishes, { taken, within: { width, height }, cost });
  return { width, height, spots, labels: labels.map((label) => ({ ...label, lines: rowsOf(label.key) })) };
}

function placed(document: CellDocument, width: number): { spots: Map<string, Point>; height: number } {
  const given = new Map<string, Point>();
  for (const { name, x, y } of document.positions)
    if (typeof x === "number" && typeof y === "number") given.set(name, { x, y });
  const distinct = new Set([...given.values()].map(({ x, y }) => `${x} ${y}`)).size;
  const known = given.size < document.positions.length || distinct < given.size ? layers(document) : given;
  const [xs, ys] = [[...known.values()].map((at) => at.x), [...known.values()].map((at) => at.y)];
  const [left, low] = [Math.min(...xs, Infinity), Math.min(...ys, Infinity)];
  const [wide, high] = [Math.max(...xs) - left || 1, Math.max(...ys) - low || 1];
  const side = Math.min(70, width / 8);
  const wanted = ((width - 2 * side) * high) / wide + 2 * TOP;
  const height = Math.round(Math.min(width * TALLEST, Math.max(width * FLATTEST, wanted)));
  const [scaleX, scaleY] = [(width - 2 * side) / wide, (height - 2 * TOP) / high];
  const spots = new Map<string, Point>();
  for (const [name, at] of known)
    spots.set(name, { x: side + (at.x - left) * scaleX, y: height - TOP - (at.y - low) * scaleY });
  return { spots, height };
}

/** Positions without coordinates: in columns by their distance from the first one. */
function layers(document: CellDocument): Map<string, Point> {
  const near = new Map<string, string[]>(document.positions.map(({ name }) => [name, []]));
  for (const { from, to } of document.moves) {
    near.get(from)?.push(to);
    near.get(to)?.push(from);
  }
  const depth = new Map<string, number>();
  for (const { name: first } of document.positions) {
    if (depth.has(first)) continue;
    depth.set(first, 0);
    const queue = [first];
    for (let here = queue.shift(); here !== undefined; here = queue.shift())
      for (const other of [...(near.get(here) ?? [])].sort())
        if (!depth.has(other)) {
          depth.set(other, (depth.get(here) ?? 0) + 1);
          queue.push(other);
        }
  }
  const columns = new Map<number, string[]>();
  for (const [name, column] of depth) columns.set(column, [...(columns.get(column) ?? []), name]);
  const spots = new Map<string, Point>();
  for (const [column, names] of columns)
    for (const [row, name] of names.entries()) spots.set(name, { x: column, y: (names.length - 1) / 2 - row });
  return spots;
}

/** A long name cut in two where a part of it ends, as near to its middle as can be. */
export function inLines(name: string): string[] {
  const cuts = [...name.slice(0, -1)].flatMap((letter, at) => ("_- ".includes(letter) ? [at + 1] : []));
  if (name.length <= LONG || cuts.length === 0) return [name];
  const cut = cuts.reduce((best, at) =>
    Math.abs(at - name.length / 2) < Math.abs(best - name.length / 2) ? at : best,
  );
  return [name.slice(0, cut), name.slice(cut)];
}

/** A line that is too long loses its middle: names that differ mostly do so at their end. */
export function shortened(line: string, most: number): string {
  if (line.length <= most) return line;
  const end = Math.floor((most - 1) / 2);
  return `${line.slice(0, most - 1 - end)}…${line.slice(line.length - end)}`;
}

/** The room that the name of the tool takes beside the robot. */
function tagOf({ x, y }: Point, tool: string): Box {
  return { left: x + 8, right: x + 23 + tool.length * STRONG_LETTER, top: y - 20, bottom: y - 5 };
}

function crosses(box: Box, from: Point, to: Point): boolean {
  const looks = Math.max(1, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / 4));
  for (let at = 0; at <= looks; at += 1) {
    const [x, y] = [from.x + ((to.x - from.x) * at) / looks, from.y + ((to.y - from.y) * at) / looks];
    if (x >= box.left && x <= box.right && y >= box.top && y <= box.bottom) return true;
  }
  return false;
}
