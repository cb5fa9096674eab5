// The floor, alive: a snapshot of a scene, the log's events on top of it, and frames of positions several times a
// second. One stream of frames serves all floors of the page; it is closed while nobody looks.

import { Asking, call } from "./floor-asking.js";
import { FloorMap } from "./floor-map.js";
import { Panel } from "./floor-panel.js";
import { Ways } from "./floor-ways.js";
import { LEGEND, OCCUPANCY, PHASES, age, doing, el, mark, percent, say, shape, shownPhase } from "./floor-words.js";

const ENDED = ["completed", "failed", "canceled"];
const COUNTED = { completed: "tasksCompleted", failed: "tasksFailed", canceled: "tasksCanceled" };
const SILENT_MS = 4000;
const floors = new Map();

class Floor {
  constructor(shell, scene) {
    this.shell = shell;
    this.name = shell.dataset.floor;
    this.mayWrite = "mayWrite" in shell.dataset;
    this.robotVerbs = JSON.parse(shell.dataset.robotVerbs);
    this.ways = new Ways(scene);
    this.robots = new Map();
    this.sites = new Map();
    this.tasks = new Map();
    this.fleet = {};
    this.seq = 0;
    this.early = null;
    this.frameAt = 0;
    this.frames = 0;
    this.selected = null;
    this.rows = new Map();
    this.chips = new Map();
    this.find = (selector) => shell.querySelector(selector);
    this.canvas = this.find("canvas");
    this.map = new FloorMap(this.canvas, this, (chosen) => this.choose(chosen));
    this.panel = new Panel(this.find(".floor-panel"), this, () => this.choose(null));
    this.asking = new Asking(this.find('[data-asked="fleet"]'));
    this.find(".floor-legend").replaceChildren(...LEGEND.map(mark));
    for (const button of shell.querySelectorAll("[data-fleet-verb]")) {
      button.addEventListener("click", () => this.#ask(button.dataset.fleetVerb));
    }
  }

  now() {
    return this.frameAt ? this.frameTs + performance.now() - this.frameAt : Date.now();
  }

  // -- what is known -------------------------------------------------------------------------------------------------

  async load() {
    const early = (this.early = []); // what happens meanwhile waits for its turn
    try {
      this.#take(await call("GET", `/state?scene=${encodeURIComponent(this.name)}`));
    } finally {
      if (this.early === early) this.early = null;
      early.forEach((event) => this.event(event));
    }
  }

  #take(state) {
    const sorted = (things, key) => things.sort((a, b) => a[key].localeCompare(b[key], "en", { numeric: true })).map((thing) => [thing[key], thing]);
    this.seq = state.seq;
    this.robots = new Map(sorted(state.robots, "robotId").map(([id, robot]) => [id, { ...this.robots.get(id), ...this.#whole(robot) }]));
    this.sites = new Map(sorted(state.worksites, "worksiteId"));
    this.tasks = new Map(state.tasks.map((task) => [task.taskId, task]));
    this.fleet = state.fleets[0] ?? {};
    this.map.refit();
    this.update();
    this.panel.changed();
  }

  // What a robot may have and has not now.
  #whole(robot) {
    return { taskId: undefined, errand: undefined, error: undefined, wish: undefined, ...robot };
  }

  event(event) {
    if (this.early) {
      this.early.push(event);
      return;
    }
    if (event.scene !== this.name || event.seq <= this.seq) return;
    this.seq = event.seq;
    const data = event.data;
    if (event.kind === "robotUpdated") {
      const before = this.robots.get(data.robotId);
      const says = data.taskId && before?.taskId === data.taskId && data.status === before.status ? before.says : event.says;
      this.robots.set(data.robotId, { ...before, ...this.#whole(data), says });
      if (this.selected?.id === data.robotId) this.panel.changed();
    } else if (event.kind === "worksiteUpdated") {
      this.sites.set(data.worksiteId, data);
      this.map.old();
    } else if (event.kind === "taskCreated" || event.kind === "taskUpdated") {
      this.#task(data);
      const robot = this.robots.get(data.robotId);
      if (robot?.taskId === data.taskId) this.robots.set(data.robotId, { ...robot, says: event.says });
    } else if (event.kind === "fleetHeld" || event.kind === "fleetCleared") {
      this.fleet = { ...this.fleet, held: event.kind === "fleetHeld", person: data.person, heldTasks: data.tasks };
      this.panel.changed();
    }
    this.updateSoon();
  }

  #task(task) {
    if (!ENDED.includes(task.status)) {
      this.tasks.set(task.taskId, task);
    } else if (this.tasks.delete(task.taskId)) {
      const count = COUNTED[task.status];
      this.fleet = { ...this.fleet, [count]: (this.fleet[count] ?? 0) + 1 };
    }
    if (this.selected && task.robotId === this.selected.id) this.panel.changed();
  }

  frame(frame) {
    const now = performance.now();
    const tookMs = this.frameTs ? Math.min(1500, Math.max(80, frame.ts - this.frameTs)) : 1;
    this.frameAt = now;
    this.frameTs = frame.ts;
    this.frames += 1;
    for (const seen of frame.robots) {
      const robot = this.robots.get(seen.robotId);
      if (!robot) continue;
      const had = Number.isFinite(robot.heading);
      const moved = Math.hypot(seen.x - robot.x, seen.y - robot.y) > 0.01;
      const came = had && moved ? this.ways.came(robot, seen) : null;
      Object.assign(robot, seen, { came, cameAt: now, cameMs: tookMs, still: moved ? 0 : (robot.still ?? 0) + 1 });
    }
    this.canvas.dataset.frames = this.frames;
    this.map.isDue = true;
    this.update();
  }

  // The node a robot is on its way to.
  targetOf(robot) {
    const task = this.tasks.get(robot.taskId);
    if (task && robot.taskId) {
      const site = this.sites.get(task.step === "pick" ? task.sourceId : task.targetId);
      return site && (site.actionNodeId ?? site.entryNodeId);
    }
    return robot.errand && robot.errand.state !== "there" ? robot.errand.nodeId : null;
  }

  // -- what is shown -------------------------------------------------------------------------------------------------

  choose(chosen) {
    const before = this.selected;
    this.selected = chosen;
    this.panel.show(chosen);
    this.find(".floor-lists").hidden = Boolean(chosen);
    if (chosen) this.find(".floor-panel").focus({ preventScroll: true });
    else if (before) (before.kind === "robot" ? this.rows : this.chips).get(before.id)?.focus({ preventScroll: true });
    this.map.old();
  }

  // Many events of one decision are shown at once.
  updateSoon() {
    this.soon ??= setTimeout(() => {
      this.soon = null;
      this.update();
    }, 60);
  }

  update() {
    this.#showHead();
    this.#showRobots();
    this.#showSites();
    this.panel.update();
    this.asking.look();
  }

  #showHead() {
    const robots = [...this.robots.values()];
    const tasks = [...this.tasks.values()];
    const held = tasks.filter((task) => ["held", "stale"].includes(task.status) || this.robots.get(task.robotId)?.paused).length;
    const state = this.fleet.held
      ? this.fleet.person === false ? ["bad", "bars", "Frozen"] : ["wait", "bars", "Held"]
      : tasks.length ? ["busy", "play", "Working"] : ["quiet", "ring", "No work"];
    const shown = this.find(".floor-state");
    shown.title = state[2] === "Frozen" ? "After an error no new work is given out until somebody answers under “Needs you”." : "";
    if (shown.textContent !== state[2]) shown.replaceChildren(mark(state));
    const silent = robots.filter((robot) => robot.status === "offline").length;
    const counts = [["under way", tasks.length], ["completed", this.fleet.tasksCompleted ?? 0], ["failed", this.fleet.tasksFailed ?? 0], ["held", held], ["silent", silent]];
    const list = this.find(".floor-counts");
    if (!list.firstChild) {
      list.append(...counts.map(([word]) => el("div", { "data-count": word }, el("dd", {}), el("dt", {}, word))));
    }
    counts.forEach(([, count], at) => {
      say(list.children[at].firstChild, String(count));
      list.children[at].classList.toggle("none", count === 0);
    });
    for (const button of this.shell.querySelectorAll("[data-fleet-verb]")) {
      const why = this.#refusal(button.dataset.fleetVerb);
      if (button.disabled !== Boolean(why)) button.disabled = Boolean(why);
      if (button.title !== why) button.title = why;
    }
    this.shell.dataset.held = this.fleet.held ? "yes" : "no";
  }

  #refusal(verb) {
    if (!this.mayWrite) return "Your token may look; this needs an operator's.";
    const byPerson = this.fleet.held && this.fleet.person !== false;
    if (verb === "hold") return byPerson ? "It is held already." : "";
    return byPerson ? "" : this.fleet.held ? "Resume or abort what is held under “Needs you”; that ends the freeze." : "Nothing is held.";
  }

  #ask(verb) {
    const moving = () => [...this.robots.values()].some((robot) => !(robot.still >= 2));
    const hold = verb === "hold";
    this.asking.ask({
      word: hold ? "Hold all" : "Clear",
      path: `/fleet/${encodeURIComponent(this.name)}/${verb}`,
      isDone: hold ? () => this.fleet.held && !moving() : () => !this.fleet.held,
      whenDone: hold ? "nothing moves" : "work goes on",
    });
  }

  // One row a robot, always in the same place.
  #showRobots() {
    const now = this.now();
    const list = this.find(".floor-robots");
    for (const robot of this.robots.values()) {
      let row = this.rows.get(robot.robotId);
      if (!row) {
        row = el("button", { type: "button", "data-robot": robot.robotId }, el("span", { class: "mark" }), el("span", { class: "told" }), el("span", { class: "battery" }));
        row.addEventListener("click", () => this.choose({ kind: "robot", id: robot.robotId }));
        this.rows.set(robot.robotId, row);
        list.append(el("li", {}, row));
      }
      const phase = shownPhase(robot);
      const [tone, form, word] = PHASES[phase];
      const [sign, told, battery] = row.children;
      if (row.dataset.phase !== phase) {
        row.dataset.phase = phase;
        sign.className = `mark ${tone}`;
        sign.title = word;
        sign.replaceChildren(shape(form));
      }
      const says = doing(robot, now);
      const text = says.startsWith(robot.robotId) ? says : `${robot.robotId}: ${says}`;
      if (told.textContent !== text) {
        told.replaceChildren(el("b", {}, robot.robotId), text.slice(robot.robotId.length));
        told.title = text;
      }
      say(battery, percent(robot.battery));
      battery.classList.toggle("low", robot.battery < 0.25);
      if (Number.isFinite(robot.x)) Object.assign(row.dataset, { x: robot.x, y: robot.y });
    }
    const free = [...this.tasks.values()].filter((task) => !task.robotId).length;
    say(this.find(".floor-waiting"), free ? `${free} ${free === 1 ? "task waits" : "tasks wait"} for a robot.` : "");
  }

  #showSites() {
    const list = this.find(".floor-sites");
    for (const site of this.sites.values()) {
      let chip = this.chips.get(site.worksiteId);
      if (!chip) {
        chip = el("button", { type: "button", "data-site": site.worksiteId }, el("span", { class: "mark" }), site.worksiteId);
        chip.addEventListener("click", () => this.choose({ kind: "site", id: site.worksiteId }));
        this.chips.set(site.worksiteId, chip);
        list.append(el("li", {}, chip));
      }
      if (chip.dataset.occupancy === site.occupancy) continue;
      const [tone, form, word] = OCCUPANCY[site.occupancy];
      chip.dataset.occupancy = site.occupancy;
      chip.setAttribute("aria-label", `${site.worksiteId}, ${word.toLowerCase()}`);
      chip.title = word;
      chip.firstChild.className = `mark ${tone}`;
      chip.firstChild.replaceChildren(shape(form));
    }
  }

  // Old positions are not shown as new ones.
  showFreshness(connected) {
    const silentMs = this.frameAt ? performance.now() - this.frameAt : 0;
    const old = !connected || silentMs > SILENT_MS;
    const note = this.find(".floor-note");
    note.hidden = !(old && this.frameAt);
    if (!note.hidden) say(note, `Positions are from ${age(silentMs)}. ${connected ? "No frames come in." : "Not connected, trying again."}`);
    this.shell.classList.toggle("stale", !note.hidden);
  }
}

// -- finding the floors of the page ------------------------------------------------------------------------------------

async function find() {
  const shells = [...document.querySelectorAll("[data-floor]")];
  for (const [name, floor] of floors) {
    if (floor !== "coming" && !floor.shell.isConnected) floors.delete(name);
  }
  for (const shell of shells) {
    const name = shell.dataset.floor;
    if (floors.has(name)) continue;
    floors.set(name, "coming");
    try {
      const scene = (await call("GET", `/scenes/${encodeURIComponent(name)}`)).document;
      const floor = new Floor(shell, scene);
      floors.set(name, floor);
      await floor.load();
    } catch (error) {
      floors.delete(name);
      const note = shell.querySelector(".floor-note");
      note.hidden = false;
      note.textContent = `The map cannot be shown: ${error.message}`;
    }
  }
  listen();
}

const alive = () => [...floors.values()].filter((floor) => floor !== "coming");

// -- frames ------------------------------------------------------------------------------------------------------------

let stream = null;
let followed = null;

function listen() {
  const names = alive().map((floor) => floor.name);
  const wanted = document.hidden || !names.length ? null : names.length === 1 ? `?scene=${encodeURIComponent(names[0])}` : "";
  if (wanted === followed) return;
  stream?.close();
  stream = null;
  followed = wanted;
  if (wanted === null) return;
  stream = new EventSource(`/api/v1/telemetry${wanted}`);
  stream.onmessage = (message) => {
    const frame = JSON.parse(message.data);
    const floor = floors.get(frame.scene);
    if (frame.kind === "robots" && floor && floor !== "coming") floor.frame(frame);
  };
  const mine = stream;
  stream.onerror = () => {
    if (mine.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
    followed = null;
    setTimeout(listen, 3000);
  };
}

function loadAll() {
  for (const floor of alive()) floor.load().catch(() => {}); // the page's own stream tells when the server is back
}

document.addEventListener("beforehand:event", ({ detail }) => alive().forEach((floor) => floor.event(detail)));
document.addEventListener("beforehand:open", loadAll);
document.addEventListener("beforehand:page", find);
document.addEventListener("visibilitychange", () => {
  listen();
  if (!document.hidden) loadAll();
});
setInterval(() => alive().forEach((floor) => floor.showFreshness(stream?.readyState === EventSource.OPEN)), 1000);

find();
