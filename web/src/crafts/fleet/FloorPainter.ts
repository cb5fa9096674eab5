/** A fleet's floor on a map: what it knows of robots and worksites, and how that is drawn and found again. */
import { serverNow } from "@/api/clock";
import { type Cluster, clusterLabels, type LabelWish, placeLabels, Taken } from "@/parts/map/labels";
import { type Changed, type Drawing, type Painter, unheard } from "@/parts/map/painter";
import { type Box, boundsOf, type Point, type Size, screenX, screenY, type View } from "@/parts/map/view";
import { duration } from "@/parts/time";
import { type Colours, colourOf, readColours } from "./colours";
import { drawGround } from "./drawGround";
import { drawHeld, drawWaits, heldBy, waitsOf } from "./held";
import { type FleetDocument, type Robot, siteNode, stateOf, type Task, targetOf, type Worksite } from "./model";
import { isStopped, Sprites } from "./sprites";
import type { Tracks } from "./tracks";
import type { Ways } from "./ways";

export type FloorHit = { kind: "robot" | "worksite"; id: string } | { kind: "several"; at: Point };

/** With more robots than this only the marked one's way is drawn. */
const MOST_ROUTES = 40;
const CROWD = 24;
/** With more of them in sight, names are not all placed anew in every picture. */
const FEW = 120;
/** With more of them in view, names would hide what they name: only those that stand still and the chosen have one. */
const PACKED = 250;
const PLACE_AGAIN_MS = 150;

interface Shown {
  robot: Robot;
  state: string;
  x: number;
  y: number;
  heading: number;
}

export class FloorPainter implements Painter<FloorHit> {
  changed: Changed = unheard();
  private robots: readonly Robot[] = [];
  private sites: readonly Worksite[] = [];
  private siteById: ReadonlyMap<string, Worksite> = new Map();
  private tasks: ReadonlyMap<string, Task> = new Map();
  private selected: { kind: string; id: string } | null = null;
  private over: { kind: string; id: string } | null = null;
  private choices: ReadonlySet<string> | null = null;
  private colours: Colours = readColours();
  private sprites: Sprites | null = null;
  private names = new Taken();
  private readonly slots = new Map<string, number>();
  private clusters: readonly Cluster[] = [];
  private placedView: View | null = null;
  private placedMs = 0;
  private shown: Shown[] = [];
  private widths: ReadonlyMap<string, number> | null = null;

  constructor(
    readonly ways: Ways,
    readonly tracks: Tracks,
  ) {}

  // -- what is known -------------------------------------------------------------------------------------------------

  setRobots(robots: readonly Robot[]): void {
    this.robots = robots;
    this.tracks.begin(robots);
    this.changed.moving();
  }

  setSites(sites: readonly Worksite[]): void {
    this.sites = sites;
    this.siteById = new Map(sites.map((site) => [site.worksiteId, site]));
    this.changed.ground();
  }

  setTasks(tasks: ReadonlyMap<string, Task>): void {
    this.tasks = tasks;
    this.changed.moving();
  }

  /** What is selected; it is brought into sight. */
  select(selected: { kind: string; id: string } | null): void {
    this.selected = selected;
    const at = selected && this.placeOf(selected);
    if (at) this.changed.reveal(at);
    this.changed.ground();
  }

  /** Whether the ground that robots hold is drawn; `document` says how wide they are. */
  showHeld(document: FleetDocument | null): void {
    const widths = document?.robots.flatMap(({ robotId, widthM }) => (widthM ? [[robotId, widthM] as const] : []));
    this.widths = widths === undefined ? null : new Map(widths);
    this.changed.moving();
  }

  choose(choices: ReadonlySet<string> | null): void {
    this.choices = choices;
    this.changed.ground();
  }

  private placeOf({ kind, id }: { kind: string; id: string }): Point | null | undefined {
    if (kind === "robot") return this.tracks.poseOf(id, performance.now(), true);
    const site = this.siteById.get(id);
    return site && this.ways.nodes.get(siteNode(site));
  }

  // -- as a painter --------------------------------------------------------------------------------------------------

  bounds(): Box {
    return boundsOf(this.ways.nodes.values());
  }

  pad(size: Size): { x: number; y: number } {
    return { x: Math.min(72, size.width / 7), y: Math.min(40, size.height / 8) };
  }

  recolour(): void {
    this.colours = readColours();
    this.sprites = null;
  }

  ground(drawing: Drawing): void {
    const marked = new Set([this.selected, this.over].flatMap((one) => (one?.kind === "worksite" ? [one.id] : [])));
    const given = {
      ways: this.ways,
      sites: this.sites,
      marked,
      choices: this.choices,
      robotPx: this.longOf(drawing.view),
    };
    this.names = drawGround(drawing, given, this.colours);
  }

  moving(drawing: Drawing): boolean {
    if (!this.sprites?.isFor(this.colours, drawing.dense)) this.sprites = new Sprites(this.colours, drawing.dense);
    this.shown = this.shownNow(drawing);
    this.drawHeldGround(drawing);
    this.drawRoutes(drawing);
    this.drawRobots(drawing, this.sprites);
    this.drawPlates(drawing, this.sprites);
    return !drawing.calm && this.tracks.isGliding(drawing.nowMs);
  }

  hit(at: Point, view: View, near: number): FloorHit | null {
    const cluster = this.clusters.find(({ box }) => isIn(box, at));
    if (cluster) return { kind: "several", at: cluster.at };
    const robot = this.choices === null ? nearest(this.shown, at, near + 4, (one) => one) : null;
    if (robot) return { kind: "robot", id: robot.robot.robotId };
    const site = nearest(this.sites, at, near, (one) => {
      const node = this.ways.nodes.get(siteNode(one));
      return node && { x: screenX(view, node.x), y: screenY(view, node.y) };
    });
    return site ? { kind: "worksite", id: site.worksiteId } : null;
  }

  hover(hit: FloorHit | null): boolean {
    const over = hit === null || hit.kind === "several" ? null : hit;
    if (over?.kind === this.over?.kind && over?.id === this.over?.id) return false;
    this.over = over;
    return true;
  }

  zoomsInto(hit: FloorHit): Point | null {
    return hit.kind === "several" ? hit.at : null;
  }

  // -- what moves ----------------------------------------------------------------------------------------------------

  private isMarked(id: string): boolean {
    const named = (one: { kind: string; id: string } | null) => one?.kind === "robot" && one.id === id;
    return named(this.selected) || named(this.over);
  }

  private shownNow({ view, size, nowMs, calm }: Drawing): Shown[] {
    const shown: Shown[] = [];
    for (const robot of this.robots) {
      const pose = this.tracks.poseOf(robot.robotId, nowMs, calm);
      if (pose === null) continue;
      const [x, y] = [screenX(view, pose.x), screenY(view, pose.y)];
      if (x < -30 || y < -30 || x > size.width + 30 || y > size.height + 30) continue;
      shown.push({ robot, state: stateOf(robot), x, y, heading: pose.heading });
    }
    return shown;
  }

  private drawHeldGround(drawing: Drawing): void {
    if (this.widths === null) return;
    const poseOf = (id: string) => this.tracks.poseOf(id, drawing.nowMs, drawing.calm);
    const held = heldBy(this.robots, this.ways.nodes, poseOf, (id) => this.tracks.seenOf(id), this.widths);
    drawHeld(drawing, held, this.colours);
    drawWaits(drawing, waitsOf(this.robots, poseOf), this.colours);
  }

  private drawRoutes({ pen, view, nowMs, calm }: Drawing): void {
    const all = this.robots.length <= MOST_ROUTES;
    for (const robot of this.robots) {
      const isMarked = this.isMarked(robot.robotId);
      if (!(isMarked || all) || robot.status === "offline") continue;
      const task = robot.taskId ? this.tasks.get(robot.taskId) : undefined;
      const target = targetOf(robot, task, (id) => this.siteById.get(id));
      const seen = this.tracks.seenOf(robot.robotId);
      const start = seen?.nextNodeId ?? seen?.nodeId ?? robot.nodeId;
      const pose = this.tracks.poseOf(robot.robotId, nowMs, calm);
      const rest = target && start && pose ? this.ways.between(start, target) : null;
      if (!rest || !pose) continue;
      pen.strokeStyle = colourOf(this.colours, stateOf(robot));
      pen.globalAlpha = isMarked ? 1 : 0.5;
      pen.lineWidth = isMarked ? 2.6 : 1.2;
      pen.setLineDash(isMarked ? [] : [5, 4]);
      pen.beginPath();
      pen.moveTo(screenX(view, pose.x), screenY(view, pose.y));
      for (const point of rest) pen.lineTo(screenX(view, point.x), screenY(view, point.y));
      pen.stroke();
    }
    pen.setLineDash([]);
    pen.globalAlpha = 1;
  }

  private longOf(view: View): number {
    const least = this.robots.length > 200 ? 8 : this.robots.length > CROWD ? 12 : 17;
    return Math.round(Math.max(least, Math.min(38, 1.7 * view.scale)));
  }

  private drawRobots({ pen, view, dense }: Drawing, sprites: Sprites): void {
    const long = this.longOf(view);
    for (const one of this.shown) {
      const sprite = sprites.robot(one.state, one.robot.loadState === "loaded", long);
      const [cos, sin] = [Math.cos(-one.heading) * dense, Math.sin(-one.heading) * dense];
      pen.setTransform(cos, sin, -sin, cos, one.x * dense, one.y * dense);
      pen.drawImage(sprite.picture, -sprite.width / 2, -sprite.height / 2, sprite.width, sprite.height);
    }
    pen.setTransform(dense, 0, 0, dense, 0, 0);
    for (const one of this.shown) if (this.isMarked(one.robot.robotId)) this.drawRing(pen, one, long);
  }

  private drawRing(pen: CanvasRenderingContext2D, { x, y }: Shown, long: number): void {
    pen.strokeStyle = this.colours.accent;
    pen.lineWidth = 2.4;
    pen.beginPath();
    pen.arc(x, y, long * 0.95, 0, 2 * Math.PI);
    pen.stroke();
  }

  // -- names of robots -----------------------------------------------------------------------------------------------

  /** In a crowd only those that have their place are placed anew in every picture; now and then all of them are. */
  private drawPlates({ pen, view, size, nowMs }: Drawing, sprites: Sprites): void {
    const isFull = this.shown.length <= FEW || view !== this.placedView || nowMs - this.placedMs > PLACE_AGAIN_MS;
    const byKey = new Map<string, Shown>();
    const wishes: LabelWish[] = [];
    const long = this.longOf(view);
    const isPacked = this.shown.length > PACKED;
    for (const one of this.shown) {
      const id = one.robot.robotId;
      if (isPacked && !this.isMarked(id) && !isStopped(one.state)) continue;
      if (!isFull && !this.slots.has(id) && !this.isMarked(id)) continue;
      byKey.set(id, one);
      wishes.push(this.wishOf(one, sprites, long));
    }
    const taken = this.names.copy();
    if (!isFull) for (const { box } of this.clusters) taken.add(box);
    const placed = placeLabels(wishes, { taken, within: size });
    this.slots.clear();
    for (const { key, box, slot } of placed) {
      this.slots.set(key, slot);
      const one = byKey.get(key);
      if (one) this.drawPlate(pen, one, box, sprites);
    }
    if (isFull) {
      [this.placedView, this.placedMs] = [view, nowMs];
      const left = wishes.filter((wish) => !this.slots.has(wish.key));
      this.clusters = clusterLabels(left, taken, (keys) => sprites.cluster(`+${keys.length}`), 90, size);
    }
    for (const { keys, box } of this.clusters) {
      const sprite = sprites.cluster(`+${keys.length}`);
      pen.drawImage(sprite.picture, box.left, box.top, sprite.width, sprite.height);
    }
  }

  private wishOf(one: Shown, sprites: Sprites, long: number): LabelWish {
    const id = one.robot.robotId;
    const rank = this.isMarked(id) ? Infinity : rankOf(one);
    const size = sprites.plate(id, one.state, this.noteOf(one.robot));
    return { key: id, at: one, size, reach: long * 0.62 + 4, rank, slot: this.slots.get(id) };
  }

  private noteOf(robot: Robot): string {
    if (robot.status !== "offline") return "";
    const at = this.tracks.seenOf(robot.robotId)?.lastSeenTsMs ?? robot.lastSeenTsMs;
    return at ? `last seen ${duration(roughly((serverNow() - at) / 1_000))} ago` : "never seen";
  }

  private drawPlate(pen: CanvasRenderingContext2D, one: Shown, box: Box, sprites: Sprites): void {
    const sprite = sprites.plate(one.robot.robotId, one.state, this.noteOf(one.robot));
    pen.drawImage(sprite.picture, box.left, box.top, sprite.width, sprite.height);
    const battery = this.tracks.seenOf(one.robot.robotId)?.battery ?? one.robot.battery;
    if (typeof battery !== "number") return;
    const [wide, y] = [sprite.width - 8, box.bottom - 3];
    pen.fillStyle = this.colours.line;
    pen.fillRect(box.left + 4, y, wide, 2);
    pen.fillStyle = battery < 0.25 ? this.colours.bad : this.colours.good;
    pen.fillRect(box.left + 4, y, wide * Math.min(1, battery), 2);
  }
}

/** Whose plate is there when not all have room: a silent robot's first, then what stands still, then what works. */
function rankOf({ state, robot }: Shown): number {
  if (state === "offline") return 3;
  if (isStopped(state)) return 2;
  return robot.taskId ? 1 : 0;
}

/** Seconds as people say them, so that the plate does not change all the time. */
function roughly(seconds: number): number {
  const step = seconds < 60 ? 5 : 60;
  return Math.max(step, Math.floor(seconds / step) * step);
}

function isIn(box: Box, at: Point): boolean {
  return at.x >= box.left && at.x <= box.right && at.y >= box.top && at.y <= box.bottom;
}

function nearest<T>(
  things: readonly T[],
  at: Point,
  reach: number,
  spot: (thing: T) => Point | null | undefined,
): T | null {
  let [best, least]: [T | null, number] = [null, reach];
  for (const thing of things) {
    const point = spot(thing);
    const far = point ? Math.hypot(point.x - at.x, point.y - at.y) : Infinity;
    if (far < least) [best, least] = [thing, far];
  }
  return best;
}
