/**
 * The ways of a hall: where its nodes are, and the shortest way between two of them. Robots find their own way; this is
 * the one they are expected to take, for lines on the map and for gliding from one place to the next.
 */
import { distance } from "@/parts/map/glide";
import type { Point } from "@/parts/map/view";
import type { FleetDocument } from "./model";

const KEPT_TREES = 128;
/** How many nodes may lie between two sayings of one robot. */
const MOST_HOPS = 8;

export class Ways {
  readonly nodes: ReadonlyMap<string, Point>;
  readonly edges: readonly { from: string; to: string; oneWay?: boolean }[];
  private readonly into = new Map<string, [string, number][]>();
  private readonly out = new Map<string, string[]>();
  private readonly trees = new Map<string, Map<string, string>>();

  constructor(document: FleetDocument) {
    this.nodes = new Map(document.nodes.map((node) => [node.id, node]));
    this.edges = document.edges.filter((edge) => this.nodes.has(edge.from) && this.nodes.has(edge.to));
    for (const edge of document.edges) {
      const [from, to] = [this.nodes.get(edge.from), this.nodes.get(edge.to)];
      if (!from || !to) continue;
      const length = edge.lengthM ?? distance(from, to);
      this.join(edge.from, edge.to, length);
      if (!edge.oneWay) this.join(edge.to, edge.from, length);
    }
  }

  private join(from: string, to: string, length: number): void {
    this.into.set(to, [...(this.into.get(to) ?? []), [from, length]]);
    this.out.set(from, [...(this.out.get(from) ?? []), to]);
  }

  /** The points from a node to another, both included; null where there is no way. */
  between(start: string, target: string): Point[] | null {
    const next = this.towards(target);
    const points: Point[] = [];
    for (let here: string | undefined = start; here !== undefined; here = next.get(here)) {
      const point = this.nodes.get(here);
      if (point === undefined) return null;
      points.push(point);
      if (here === target) return points;
    }
    return null;
  }

  /** For every node the next one on the way to `target`. */
  private towards(target: string): Map<string, string> {
    const known = this.trees.get(target);
    if (known) return known;
    const next = new Map<string, string>();
    const far = new Map([[target, 0]]);
    const open = new Heap();
    open.push(0, target);
    for (let nearest = open.pop(); nearest !== undefined; nearest = open.pop()) {
      const [metres, here] = nearest;
      if (metres > (far.get(here) ?? Infinity)) continue;
      for (const [before, length] of this.into.get(here) ?? []) {
        const total = metres + length;
        if (total >= (far.get(before) ?? Infinity)) continue;
        far.set(before, total);
        next.set(before, here);
        open.push(total, before);
      }
    }
    if (this.trees.size >= KEPT_TREES) this.trees.clear();
    this.trees.set(target, next);
    return next;
  }

  /** The few nodes between two that are near each other, both included; null where they are not. */
  shortHop(start: string, end: string): Point[] | null {
    const from = new Map<string, string | null>([[start, null]]);
    let rim = [start];
    for (let hops = 0; hops <= MOST_HOPS && rim.length > 0 && !from.has(end); hops += 1) {
      const further: string[] = [];
      for (const here of rim)
        for (const there of this.out.get(here) ?? [])
          if (!from.has(there)) {
            from.set(there, here);
            further.push(there);
          }
      rim = further;
    }
    if (!from.has(end)) return null;
    const points: Point[] = [];
    for (let here: string | null | undefined = end; here; here = from.get(here)) {
      const point = this.nodes.get(here);
      if (point) points.unshift(point);
    }
    return points;
  }
}

/** The least first. */
class Heap {
  private readonly items: [number, string][] = [];

  push(rank: number, name: string): void {
    const items = this.items;
    let at = items.push([rank, name]) - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      if ((items[up] as [number, string])[0] <= rank) break;
      items[at] = items[up] as [number, string];
      at = up;
    }
    items[at] = [rank, name];
  }

  pop(): [number, string] | undefined {
    const items = this.items;
    const [first, last] = [items[0], items.pop()];
    if (first === undefined || last === undefined || items.length === 0) return first;
    let at = 0;
    for (let down = 1; down < items.length; down = 2 * at + 1) {
      const other = items[down + 1];
      if (other && other[0] < (items[down] as [number, string])[0]) down += 1;
      if ((items[down] as [number, string])[0] >= last[0]) break;
      items[at] = items[down] as [number, string];
      at = down;
    }
    items[at] = last;
    return first;
  }
}
