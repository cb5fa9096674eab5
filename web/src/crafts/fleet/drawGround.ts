/** The ground of a floor: ways, worksites by what lies there, reservations as rings, and the names of places. */
import { clusterLabels, type LabelWish, placeLabels, SLOTS, type Slot, Taken } from "@/parts/map/labels";
import type { Drawing } from "@/parts/map/painter";
import { type Point, screenX, screenY, type View } from "@/parts/map/view";
import type { Colours } from "./colours";
import { isService, lies, siteNode, type Worksite } from "./model";
import type { Ways } from "./ways";

export interface Ground {
  ways: Ways;
  sites: readonly Worksite[];
  /** The worksite that is selected, and the one under the pointer. */
  marked: ReadonlySet<string>;
  /** While a place is being chosen: those that can be. */
  choices: ReadonlySet<string> | null;
  /** How long a robot is drawn: a name stays clear of one that stands at its place. */
  robotPx: number;
}

/** Draws it; gives the boxes of the names, which nothing else may cover. */
export function drawGround({ pen, view, size }: Drawing, ground: Ground, colours: Colours): Taken {
  drawWays(pen, view, ground.ways, colours);
  const half = placeSize(view) / 2;
  const taken = new Taken();
  for (const site of ground.sites) {
    const node = ground.ways.nodes.get(siteNode(site));
    if (!node) continue;
    const [x, y] = [screenX(view, node.x), screenY(view, node.y)];
    if (x < -40 || y < -40 || x > size.width + 40 || y > size.height + 40) continue;
    taken.add({ left: x - half, right: x + half, top: y - half, bottom: y + half });
    pen.save();
    pen.translate(x, y);
    drawSite(pen, site, half, ground, colours);
    pen.restore();
  }
  return drawNames(pen, view, size, ground, colours, half, taken);
}

export const placeSize = (view: View): number => Math.max(7, Math.min(26, 1.15 * view.scale));

function drawWays(pen: CanvasRenderingContext2D, view: View, ways: Ways, colours: Colours): void {
  pen.lineCap = "round";
  pen.strokeStyle = colours.lineStrong;
  pen.globalAlpha = 0.32;
  pen.lineWidth = Math.max(2, Math.min(16, 0.75 * view.scale));
  pen.beginPath();
  for (const edge of ways.edges) {
    const [from, to] = [ways.nodes.get(edge.from), ways.nodes.get(edge.to)];
    if (!from || !to) continue;
    pen.moveTo(screenX(view, from.x), screenY(view, from.y));
    pen.lineTo(screenX(view, to.x), screenY(view, to.y));
  }
  pen.stroke();
  pen.globalAlpha = 1;
  pen.fillStyle = colours.soft;
  if (view.scale > 4) for (const edge of ways.edges) if (edge.oneWay) drawArrow(pen, view, ways, edge);
}

function drawArrow(pen: CanvasRenderingContext2D, view: View, ways: Ways, edge: { from: string; to: string }): void {
  const [from, to] = [ways.nodes.get(edge.from), ways.nodes.get(edge.to)];
  if (!from || !to) return;
  pen.save();
  pen.translate(screenX(view, (from.x + to.x) / 2), screenY(view, (from.y + to.y) / 2));
  pen.rotate(Math.atan2(from.y - to.y, to.x - from.x));
  pen.beginPath();
  pen.moveTo(4, 0);
  pen.lineTo(-3, 3.5);
  pen.lineTo(-3, -3.5);
  pen.fill();
  pen.restore();
}

function drawSite(pen: CanvasRenderingContext2D, site: Worksite, half: number, ground: Ground, colours: Colours): void {
  const choices = ground.choices;
  if (choices !== null && !choices.has(site.worksiteId)) pen.globalAlpha = 0.35;
  if (isService(site)) drawService(pen, site, half, colours);
  else drawPlace(pen, lies(site), half, colours);
  if (site.occupancy === "reserved") ring(pen, half + 4, colours.wait, 1.8);
  if (choices?.has(site.worksiteId)) ring(pen, half + 5, colours.accent, 2, [4, 3]);
  if (ground.marked.has(site.worksiteId)) ring(pen, half + 7, colours.accent, 2.4);
}

function ring(pen: CanvasRenderingContext2D, radius: number, colour: string, width: number, dash: number[] = []): void {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.setLineDash(dash);
  pen.beginPath();
  pen.arc(0, 0, radius, 0, 2 * Math.PI);
  pen.stroke();
  pen.setLineDash([]);
}

function drawPlace(pen: CanvasRenderingContext2D, what: string, half: number, colours: Colours): void {
  const tone = what === "filled" ? colours.pallet : what === "empty" ? colours.soft : colours.doubt;
  pen.lineWidth = 1.6;
  pen.strokeStyle = tone;
  pen.fillStyle = what === "filled" ? tone : colours.surface;
  pen.setLineDash(what === "empty" || what === "filled" ? [] : [3, 2]);
  pen.beginPath();
  pen.roundRect(-half, -half, 2 * half, 2 * half, Math.min(3, half / 3));
  pen.fill();
  pen.stroke();
  pen.setLineDash([]);
  if (what === "filled" && half > 5) drawSlats(pen, half, colours);
  if (what !== "empty" && what !== "filled") write(pen, "?", 0, 0.5, Math.max(8, half * 1.3), tone, colours, 700);
}

/** A pallet seen from above. */
function drawSlats(pen: CanvasRenderingContext2D, half: number, colours: Colours): void {
  pen.strokeStyle = colours.sunken;
  pen.lineWidth = 1;
  pen.beginPath();
  for (const at of [-0.34, 0.34]) {
    pen.moveTo(at * half, -half + 2);
    pen.lineTo(at * half, half - 2);
  }
  pen.stroke();
}

const BOLT = [
  [1, -6],
  [-4, 1],
  [0, 1],
  [-1, 6],
  [4, -1],
  [0, -1],
] as const;

function drawService(pen: CanvasRenderingContext2D, site: Worksite, half: number, colours: Colours): void {
  const tone = site.worksiteType === "charger" ? colours.good : colours.soft;
  pen.strokeStyle = tone;
  pen.fillStyle = colours.surface;
  pen.lineWidth = 1.4;
  pen.beginPath();
  pen.arc(0, 0, half, 0, 2 * Math.PI);
  pen.fill();
  pen.stroke();
  if (site.worksiteType === "park") {
    write(pen, "P", 0, 0.5, Math.max(7, half * 1.3), tone, colours, 600);
    return;
  }
  pen.fillStyle = tone;
  pen.beginPath();
  for (const [at, [dx, dy]] of BOLT.entries()) {
    if (at === 0) pen.moveTo((dx * half) / 8, (dy * half) / 8);
    else pen.lineTo((dx * half) / 8, (dy * half) / 8);
  }
  pen.fill();
}

function write(
  pen: CanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  size: number,
  colour: string,
  colours: Colours,
  weight: number,
): void {
  pen.font = `${weight} ${size}px ${colours.font}`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillStyle = colour;
  pen.fillText(text, x, y);
}

// -- names -----------------------------------------------------------------------------------------------------------

const NAME_PX = 11;

function drawNames(
  pen: CanvasRenderingContext2D,
  view: View,
  size: { width: number; height: number },
  ground: Ground,
  colours: Colours,
  half: number,
  taken: Taken,
): Taken {
  pen.font = `520 ${NAME_PX}px ${colours.font}`;
  const wishes: LabelWish[] = [];
  const groups = new Map<string, string>();
  for (const site of ground.sites) {
    const node = ground.ways.nodes.get(siteNode(site));
    const isMarked = ground.marked.has(site.worksiteId);
    if (!node || (isService(site) && !isMarked && view.scale < 22)) continue;
    const at = { x: screenX(view, node.x), y: screenY(view, node.y) };
    if (at.x < 0 || at.y < 0 || at.x > size.width || at.y > size.height) continue;
    groups.set(site.worksiteId, site.groupId ?? "");
    const slots = slotsAway(ground.ways.nodes.get(site.entryNodeId), node);
    const width = pen.measureText(site.worksiteId).width + 4;
    const rank = isMarked ? Infinity : isService(site) ? 0 : 1;
    wishes.push({
      key: site.worksiteId,
      at,
      size: { width, height: NAME_PX + 4 },
      reach: Math.max(half + 5, ground.robotPx * 1.05),
      rank,
      slots,
    });
  }
  const placed = placeLabels(wishes, { taken, within: size });
  const names = new Taken();
  for (const { key, box } of placed) {
    names.add(box);
    const isMarked = ground.marked.has(key);
    const colour = isMarked ? colours.ink : colours.soft;
    write(
      pen,
      key,
      (box.left + box.right) / 2,
      (box.top + box.bottom) / 2,
      NAME_PX,
      colour,
      colours,
      isMarked ? 680 : 520,
    );
  }
  const there = new Set(placed.map((one) => one.key));
  const left = wishes.filter((wish) => !there.has(wish.key));
  const textOf = (keys: readonly string[]) => `${commonName(keys, groups)} +${keys.length}`;
  const sizeOf = (keys: readonly string[]) => ({ width: pen.measureText(textOf(keys)).width + 4, height: NAME_PX + 4 });
  pen.font = `520 ${NAME_PX}px ${colours.font}`;
  for (const { keys, box } of clusterLabels(left, taken, sizeOf, 110, size)) {
    names.add(box);
    const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
    write(pen, textOf(keys), x, y, NAME_PX, colours.soft, colours, 520);
  }
  return names;
}

/** The group that all of them belong to, or what their names begin with. */
function commonName(keys: readonly string[], groups: ReadonlyMap<string, string>): string {
  const names = new Set(keys.map((key) => groups.get(key) || key.replace(/[-_ ]?\d+$/, "")));
  return names.size === 1 ? ([...names][0] ?? "") : "";
}

/** A place's name stands on the side away from where robots come from, if it can. */
function slotsAway(entry: Point | undefined, node: Point): readonly Slot[] {
  const [dx, dy] = entry ? [node.x - entry.x, node.y - entry.y] : [0, 0];
  const first: Slot = Math.abs(dx) > Math.abs(dy) ? (dx > 0 ? "right" : "left") : dy > 0 ? "above" : "below";
  return [first, ...SLOTS.filter((slot) => slot !== first)];
}
