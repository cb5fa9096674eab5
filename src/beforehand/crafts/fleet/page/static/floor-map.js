// Draws a floor on a canvas: ways and worksites on a ground that is only drawn anew when it changes, and over it, many
// times a second, the robots, gliding along the ways from one frame's place to the next one's.

import { along } from "./floor-ways.js";
import { PHASES, lies, shownPhase } from "./floor-words.js";

const FRAME_MS = 33;
const TONES = ["ground", "surface", "raised", "line", "ink", "soft", "accent", "good", "busy", "wait", "bad", "doubt", "load"];
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const light = matchMedia("(prefers-color-scheme: light)");

const isService = (site) => site.worksiteType === "charger" || site.worksiteType === "park";

export class FloorMap {
  constructor(canvas, floor, onPick) {
    this.canvas = canvas;
    this.floor = floor;
    this.pen = canvas.getContext("2d");
    this.ground = document.createElement("canvas");
    this.groundIsOld = true;
    this.isDue = true;
    this.isSeen = true;
    this.drawnAt = 0;
    this.over = null;
    this.ratio = canvas.height / canvas.width;
    this.#readColours();
    this.sizes = new ResizeObserver(() => this.#fit());
    this.sizes.observe(canvas);
    this.sight = new IntersectionObserver(([entry]) => (this.isSeen = entry.isIntersecting));
    this.sight.observe(canvas);
    light.addEventListener("change", () => this.#readColours());
    canvas.addEventListener("click", (event) => onPick(this.#at(event)));
    canvas.addEventListener("pointermove", (event) => this.#hover(this.#at(event)));
    canvas.addEventListener("pointerleave", () => this.#hover(null));
    this.#fit();
    this.turn = (now) => this.#loop(now);
    requestAnimationFrame(this.turn);
  }

  #readColours() {
    const style = getComputedStyle(document.documentElement);
    this.colour = Object.fromEntries(TONES.map((tone) => [tone, style.getPropertyValue(`--${tone}`).trim()]));
    this.colour.quiet = this.colour.soft;
    this.old();
  }

  // The worksites are known now, so that their names get room.
  refit() {
    this.#fit();
  }

  // The ground has changed.
  old() {
    this.groundIsOld = true;
    this.isDue = true;
  }

  #fit() {
    const wide = this.canvas.clientWidth || 600;
    const high = wide * this.ratio;
    const dense = Math.min(2, devicePixelRatio || 1);
    for (const canvas of [this.canvas, this.ground]) {
      canvas.width = Math.round(wide * dense);
      canvas.height = Math.round(high * dense);
    }
    this.dense = dense;
    const nodes = [...this.floor.ways.nodes.values()];
    const [xs, ys] = [nodes.map((node) => node.x), nodes.map((node) => node.y)];
    const [left, right, low, top] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    this.small = wide < 520;
    this.pen.font = `500 ${this.small ? 8.5 : 10.5}px ${this.font()}`;
    const named = [...this.floor.sites.values()].filter((site) => !isService(site));
    const names = named.map((site) => this.pen.measureText(site.worksiteId).width);
    const [padX, padY] = [Math.min(wide / 6, Math.max(20, ...names) + 18), this.small ? 24 : 32];
    this.scale = Math.min((wide - 2 * padX) / Math.max(1, right - left), (high - 2 * padY) / Math.max(1, top - low));
    this.x = (x) => wide / 2 + (x - (left + right) / 2) * this.scale;
    this.y = (y) => high / 2 - (y - (low + top) / 2) * this.scale;
    Object.assign(this.canvas.dataset, { scale: this.scale, originX: this.x(0), originY: this.y(0) });
    const crowd = this.floor.robots.size > 24;
    this.size = Math.max(this.small ? (crowd ? 8 : 12) : crowd ? 12 : 17, Math.min(24, 1.8 * this.scale));
    this.place = Math.max(7, Math.min(15, 1.15 * this.scale));
    this.old();
  }

  // -- where things are ----------------------------------------------------------------------------------------------

  // The place a robot is shown at now, between the last two frames.
  where(robot, now) {
    if (!robot.came || calm.matches) return robot;
    const share = (now - robot.cameAt) / robot.cameMs;
    if (share >= 1) return robot;
    const point = along(robot.came, share);
    return { x: point.x, y: point.y, heading: point.heading ?? robot.heading };
  }

  siteAt(site) {
    return this.floor.ways.nodes.get(site.actionNodeId ?? site.entryNodeId);
  }

  #at(event) {
    const box = this.canvas.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    const near = (reach, things, spot) => {
      let best = null;
      for (const thing of things) {
        const point = spot(thing);
        const far = point ? Math.hypot(this.x(point.x) - px, this.y(point.y) - py) : Infinity;
        if (far < reach && (!best || far < best.far)) best = { thing, far };
      }
      return best?.thing;
    };
    const now = performance.now();
    const robot = near(18, this.floor.robots.values(), (one) => (Number.isFinite(one.x) ? this.where(one, now) : null));
    if (robot) return { kind: "robot", id: robot.robotId };
    const site = near(16, this.floor.sites.values(), (one) => this.siteAt(one));
    return site ? { kind: "site", id: site.worksiteId } : null;
  }

  #hover(thing) {
    this.canvas.classList.toggle("over", Boolean(thing));
    const key = thing && `${thing.kind} ${thing.id}`;
    if (key !== this.over) {
      this.over = key;
      this.old();
    }
  }

  #isMarked(kind, id) {
    const chosen = this.floor.selected;
    return (chosen?.kind === kind && chosen.id === id) || this.over === `${kind} ${id}`;
  }

  // -- drawing -------------------------------------------------------------------------------------------------------

  #loop(now) {
    if (!this.canvas.isConnected) {
      this.sizes.disconnect();
      this.sight.disconnect();
      return;
    }
    requestAnimationFrame(this.turn);
    if (!this.isSeen || document.hidden || now - this.drawnAt < FRAME_MS) return;
    const robots = [...this.floor.robots.values()];
    const glides = !calm.matches && robots.some((robot) => robot.came && now - robot.cameAt < robot.cameMs + 60);
    if (!glides && !this.isDue) return;
    this.drawnAt = now;
    this.isDue = false;
    this.#draw(robots, now);
  }

  #draw(robots, now) {
    if (this.groundIsOld) this.#drawGround();
    const pen = this.pen;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.drawImage(this.ground, 0, 0);
    pen.setTransform(this.dense, 0, 0, this.dense, 0, 0);
    const shown = robots.filter((robot) => Number.isFinite(robot.x));
    shown.sort((a, b) => this.#isMarked("robot", a.robotId) - this.#isMarked("robot", b.robotId));
    const places = shown.map((robot) => [robot, this.where(robot, now)]);
    const named = [...places].reverse();
    for (const [robot, spot] of places) this.#drawRoute(robot, spot);
    for (const [robot, spot] of places) this.#drawRobot(robot, spot);
    this.plates = [];
    for (const [robot, spot] of named) this.#drawName(robot, spot);
  }

  #drawGround() {
    this.groundIsOld = false;
    const pen = this.ground.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.ground.width, this.ground.height);
    pen.setTransform(this.dense, 0, 0, this.dense, 0, 0);
    pen.lineCap = "round";
    pen.strokeStyle = this.colour.line;
    pen.lineWidth = Math.max(3, Math.min(9, 0.75 * this.scale));
    pen.beginPath();
    for (const edge of this.floor.ways.edges) {
      const [a, b] = [this.floor.ways.nodes.get(edge.from), this.floor.ways.nodes.get(edge.to)];
      pen.moveTo(this.x(a.x), this.y(a.y));
      pen.lineTo(this.x(b.x), this.y(b.y));
    }
    pen.stroke();
    pen.fillStyle = this.colour.soft;
    for (const edge of this.floor.ways.edges) if (edge.oneWay) this.#drawArrow(pen, edge);
    this.names = [];
    const sites = [...this.floor.sites.values()];
    sites.sort((a, b) => this.#isMarked("site", b.worksiteId) - this.#isMarked("site", a.worksiteId));
    for (const site of sites) this.#drawSite(pen, site);
  }

  #drawArrow(pen, edge) {
    const [a, b] = [this.floor.ways.nodes.get(edge.from), this.floor.ways.nodes.get(edge.to)];
    pen.save();
    pen.translate(this.x((a.x + b.x) / 2), this.y((a.y + b.y) / 2));
    pen.rotate(Math.atan2(-(b.y - a.y), b.x - a.x));
    pen.beginPath();
    pen.moveTo(4, 0);
    pen.lineTo(-3, 3);
    pen.lineTo(-3, -3);
    pen.fill();
    pen.restore();
  }

  #drawSite(pen, site) {
    const node = this.siteAt(site);
    if (!node) return;
    const [x, y, half] = [this.x(node.x), this.y(node.y), this.place / 2];
    const service = isService(site);
    pen.save();
    pen.translate(x, y);
    pen.fillStyle = this.colour.surface;
    pen.lineWidth = 1.6;
    if (service) this.#drawService(pen, site, half);
    else this.#drawPlace(pen, lies(site), half);
    if (site.occupancy === "reserved") {
      pen.strokeStyle = this.colour.wait;
      pen.lineWidth = 1.8;
      pen.beginPath();
      pen.arc(0, 0, half + 4, 0, 2 * Math.PI);
      pen.stroke();
    }
    if (this.#isMarked("site", site.worksiteId)) this.#drawChosen(pen, half + 7);
    pen.restore();
    this.#drawSiteName(pen, site, node, half, service);
  }

  #drawPlace(pen, what, half) {
    const tone = what === "filled" ? this.colour.load : what === "unknown" ? this.colour.doubt : this.colour.soft;
    pen.strokeStyle = tone;
    pen.setLineDash(what === "unknown" ? [3, 2] : []);
    pen.beginPath();
    pen.roundRect(-half, -half, 2 * half, 2 * half, 2);
    pen.fill();
    if (what === "filled") {
      pen.fillStyle = tone;
      pen.fill();
    }
    pen.stroke();
    pen.setLineDash([]);
    if (what === "unknown") this.#write(pen, "?", 0, 0.5, tone, "center", 10);
  }

  #drawService(pen, site, half) {
    const tone = site.worksiteType === "charger" ? this.colour.good : this.colour.soft;
    pen.strokeStyle = tone;
    pen.lineWidth = 1.3;
    pen.beginPath();
    pen.arc(0, 0, half, 0, 2 * Math.PI);
    pen.fill();
    pen.stroke();
    if (site.worksiteType === "park") {
      this.#write(pen, "P", 0, 0.5, tone, "center", Math.max(7, half * 1.3));
      return;
    }
    const unit = half / 8;
    pen.fillStyle = tone;
    pen.beginPath();
    [[1, -6], [-4, 1], [0, 1], [-1, 6], [4, -1], [0, -1]].forEach(([dx, dy], at) => (at ? pen.lineTo(dx * unit, dy * unit) : pen.moveTo(dx * unit, dy * unit)));
    pen.fill();
  }

  // A place's name stands on the side away from where robots come from.
  #drawSiteName(pen, site, node, half, service) {
    if (service && !this.#isMarked("site", site.worksiteId)) return;
    const entry = this.floor.ways.nodes.get(site.entryNodeId) ?? node;
    const [dx, dy] = [node.x - entry.x, -(node.y - entry.y)];
    const gap = half + 8;
    const [x, y] = [this.x(node.x), this.y(node.y)];
    const size = this.small ? 8.5 : 10.5;
    const tone = this.#isMarked("site", site.worksiteId) ? this.colour.ink : this.colour.soft;
    const sideways = Math.abs(dx) > Math.abs(dy);
    const align = !sideways ? "center" : dx > 0 ? "left" : "right";
    const at = sideways ? [x + Math.sign(dx) * gap, y] : [x, y + (dy < 0 ? -gap - 3 : gap + 4)];
    pen.font = `500 ${size}px ${this.font()}`;
    const wide = pen.measureText(site.worksiteId).width;
    const left = at[0] - { left: 0, center: wide / 2, right: wide }[align];
    const box = [left - 2, at[1] - size * 0.6, left + wide + 2, at[1] + size * 0.6];
    if (this.names.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) return;
    this.names.push(box);
    this.#write(pen, site.worksiteId, ...at, tone, align, size);
  }

  #drawChosen(pen, radius) {
    pen.strokeStyle = this.colour.accent;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(0, 0, radius, 0, 2 * Math.PI);
    pen.stroke();
  }

  #drawRoute(robot, spot) {
    const target = this.floor.targetOf(robot);
    if (!target || robot.status === "offline") return;
    const rest = this.floor.ways.ahead({ ...robot, x: spot.x, y: spot.y }, target);
    if (!rest) return;
    const pen = this.pen;
    const marked = this.#isMarked("robot", robot.robotId);
    pen.strokeStyle = this.colour[PHASES[shownPhase(robot)][0]];
    pen.globalAlpha = marked ? 1 : 0.55;
    pen.lineWidth = marked ? 2.4 : 1.2;
    pen.setLineDash(marked ? [] : [5, 4]);
    pen.beginPath();
    rest.forEach((point, at) => (at ? pen.lineTo(this.x(point.x), this.y(point.y)) : pen.moveTo(this.x(point.x), this.y(point.y))));
    pen.stroke();
    pen.setLineDash([]);
    pen.globalAlpha = 1;
  }

  // A forklift from above: body, two forks in front, and on them the pallet it carries.
  #drawRobot(robot, spot) {
    const pen = this.pen;
    const phase = shownPhase(robot);
    const tone = this.colour[PHASES[phase][0]];
    const [long, half] = [this.size, this.size * 0.36];
    pen.save();
    pen.translate(this.x(spot.x), this.y(spot.y));
    if (this.#isMarked("robot", robot.robotId)) this.#drawChosen(pen, long * 0.95);
    pen.rotate(-(spot.heading ?? robot.heading ?? 0));
    pen.strokeStyle = tone;
    pen.lineWidth = Math.max(1.6, long * 0.12);
    pen.beginPath();
    for (const side of [-1, 1]) {
      pen.moveTo(long * 0.2, side * half * 0.55);
      pen.lineTo(long * 0.72, side * half * 0.55);
    }
    pen.stroke();
    pen.fillStyle = phase === "silent" ? this.colour.surface : tone;
    pen.strokeStyle = this.colour.surface;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.roundRect(-long * 0.55, -half, long * 0.8, 2 * half, 3);
    pen.fill();
    pen.stroke();
    if (phase === "silent") this.#hatch(pen, long, half, tone);
    if (robot.loadState === "loaded") {
      pen.fillStyle = this.colour.load;
      pen.strokeStyle = this.colour.surface;
      pen.fillRect(long * 0.3, -half * 0.95, half * 1.9, half * 1.9);
      pen.strokeRect(long * 0.3, -half * 0.95, half * 1.9, half * 1.9);
    }
    pen.restore();
  }

  #hatch(pen, long, half, tone) {
    pen.save();
    pen.clip();
    pen.strokeStyle = tone;
    pen.lineWidth = 1.4;
    pen.beginPath();
    for (let at = -long; at < long; at += 4) {
      pen.moveTo(at, -half);
      pen.lineTo(at + 2 * half, half);
    }
    pen.stroke();
    pen.restore();
    pen.strokeStyle = tone;
    pen.strokeRect(-long * 0.55, -half, long * 0.8, 2 * half);
  }

  // The robot's name on a plate, the battery as the line under it, and bars or a cross where it stands held or in error.
  #drawName(robot, spot) {
    const pen = this.pen;
    const phase = shownPhase(robot);
    const marked = this.#isMarked("robot", robot.robotId);
    const short = this.small && !marked;
    const name = short ? robot.robotId.replace(/^.*[-_]/, "") : robot.robotId;
    const size = this.small ? 8.5 : 10.5;
    pen.font = `600 ${size}px ${this.font()}`;
    const wide = Math.max(14, pen.measureText(name).width + 8);
    const x = this.x(spot.x);
    const away = this.size * 0.55 + 10;
    const heights = [-away, away, -away - 16, away + 16].map((down) => this.y(spot.y) + down);
    const y = heights.find((at) => this.#isFree(x, at, wide)) ?? (marked ? heights[0] : null);
    if (y === null) return; // in a crowd a name would only cover others; the list has them all
    this.plates.push([x, y, wide]);
    pen.globalAlpha = 0.88;
    pen.fillStyle = this.colour.surface;
    pen.beginPath();
    pen.roundRect(x - wide / 2, y - size * 0.75, wide, size * 1.5 + 3, 4);
    pen.fill();
    pen.globalAlpha = 1;
    this.#write(pen, name, x, y, phase === "idle" || phase === "parked" ? this.colour.soft : this.colour.ink, "center", size, 600);
    if (robot.battery !== undefined && robot.battery !== null) {
      const [bar, at] = [wide - 6, y + size * 0.75];
      pen.fillStyle = this.colour.line;
      pen.fillRect(x - bar / 2, at, bar, 2);
      pen.fillStyle = robot.battery < 0.25 ? this.colour.bad : this.colour.good;
      pen.fillRect(x - bar / 2, at, bar * Math.min(1, robot.battery), 2);
    }
    const sign = { held: "‖", error: "×", blocked: "!", silent: "?" }[phase];
    if (sign) this.#write(pen, sign, x + wide / 2 + 5, y, this.colour[PHASES[phase][0]], "center", size + 3, 800);
  }

  #isFree(x, y, wide) {
    return this.plates.every(([ox, oy, other]) => Math.abs(ox - x) > (wide + other) / 2 || Math.abs(oy - y) > 15);
  }

  font() {
    this.family ??= getComputedStyle(document.body).fontFamily;
    return this.family;
  }

  #write(pen, text, x, y, tone, align, size, weight = 500) {
    pen.font = `${weight} ${size}px ${this.font()}`;
    pen.textAlign = align;
    pen.textBaseline = "middle";
    pen.fillStyle = tone;
    pen.fillText(text, x, y);
  }
}
