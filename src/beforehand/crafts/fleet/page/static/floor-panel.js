// The details of one robot or worksite, and what a person may ask of it.

import { Asking, call } from "./floor-asking.js";
import { OCCUPANCY, PHASES, age, doing, el, lies, mark, percent, say, shownPhase } from "./floor-words.js";

const WHY_MS = 1000;
const SOURCES = { task: "as its task went", sensor: "as its sensor says", manual: "as a person said", unknown: "no source given" };

export class Panel {
  constructor(place, floor, onClose) {
    this.place = place;
    this.floor = floor;
    this.onClose = onClose;
    this.whyDue = 0;
    this.whyTimer = null;
    place.addEventListener("keydown", (event) => event.key === "Escape" && onClose());
  }

  show(chosen) {
    this.chosen = chosen;
    this.facts = new Map();
    this.place.hidden = !chosen;
    clearTimeout(this.whyTimer);
    this.whyTimer = null;
    if (!chosen) return;
    const back = el("button", { type: "button", class: "ghost small back" }, "‹ All");
    back.addEventListener("click", this.onClose);
    this.state = el("span", { class: "panel-state" });
    this.list = el("dl", { class: "panel-facts" });
    this.said = el("p", { class: "asked fine", "aria-live": "polite" });
    this.asking = new Asking(this.said);
    this.buttons = el("div", { class: "panel-verbs" });
    const head = el("div", { class: "panel-head" }, el("h4", {}, chosen.id), this.state, back);
    const whole = [head, this.list];
    this.place.dataset.chosen = chosen.id;
    if (chosen.kind === "robot") {
      this.why = el("ul", { class: "panel-why", "aria-live": "polite" });
      whole.push(el("h5", {}, "Why?"), this.why);
      this.#robotVerbs();
    } else {
      this.#siteVerbs();
    }
    this.place.replaceChildren(...whole, this.buttons, this.said);
    this.update();
    if (chosen.kind === "robot") this.#askWhy();
    this.place.scrollTop = 0;
  }

  // -- facts ---------------------------------------------------------------------------------------------------------

  update() {
    if (!this.chosen) return;
    if (this.chosen.kind === "robot") this.#updateRobot();
    else this.#updateSite();
    this.asking.look();
  }

  #fact(name, text) {
    if (!this.facts.has(name)) {
      const value = el("dd", {});
      this.list.append(el("dt", {}, name), value);
      this.facts.set(name, value);
    }
    say(this.facts.get(name), text);
  }

  #mark(state) {
    if (this.state.textContent !== state[2]) this.state.replaceChildren(mark(state));
  }

  #updateRobot() {
    const robot = this.floor.robots.get(this.chosen.id);
    if (!robot) return;
    const now = this.floor.now();
    this.#mark(PHASES[shownPhase(robot)]);
    this.#fact("Does", doing(robot, now));
    this.#fact("Battery", percent(robot.battery));
    this.#fact("Load", `${robot.loadState}, ${SOURCES[robot.loadStateSource] ?? "no source given"} (${robot.loadStateConfidence} confidence)`);
    this.#fact("Task", robot.taskId ?? "none");
    this.#fact("Where", robot.nextNodeId ? `${robot.nodeId}, driving to ${robot.nextNodeId}` : (robot.nodeId ?? "unknown"));
    this.#fact("Last seen", robot.lastSeenTsMs ? age(now - robot.lastSeenTsMs) : "never");
    for (const [verb, button] of this.verbs) {
      const why = this.#refusal(verb, robot);
      button.disabled = Boolean(why);
      button.title = why;
    }
  }

  #updateSite() {
    const site = this.floor.sites.get(this.chosen.id);
    if (!site) return;
    const task = this.floor.tasks.get(site.reservedBy);
    this.#mark(OCCUPANCY[site.occupancy]);
    this.#fact("Kind", site.groupId ? `${site.worksiteType} of ${site.groupId}` : site.worksiteType);
    this.#fact("Lies there", { filled: "a pallet", empty: "nothing" }[lies(site)] ?? "not known");
    this.#fact("Reserved", site.reservedBy ? `by ${site.reservedBy}${task?.robotId ? ` for ${task.robotId}` : ""}` : "no");
    this.#fact("Node", site.actionNodeId ?? site.entryNodeId);
    if (site.failures) this.#fact("Failures", `${site.failures} in a row`);
    for (const [value, button] of this.verbs) button.setAttribute("aria-pressed", String(lies(site) === value));
  }

  // -- asking --------------------------------------------------------------------------------------------------------

  #refusal(verb, robot) {
    if (!this.floor.mayWrite) return "Your token may look; this needs an operator's.";
    if (verb === "hold" && robot.held) return "It is held already.";
    if (verb === "release" && !robot.held && !robot.error) return "It is not held.";
    return "";
  }

  #robotVerbs() {
    const id = this.chosen.id;
    const robot = () => this.floor.robots.get(id) ?? {};
    const at = (kind) => robot().errand?.kind === kind && robot().errand.state === "there";
    const ends = {
      hold: [() => robot().held && robot().still >= 2, `${id} stands`],
      release: [() => !robot().held && !robot().paused, `${id} goes on`],
      park: [() => at("park"), `${id} is parked`],
      charge: [() => at("charge"), `${id} charges`],
    };
    this.verbs = this.floor.robotVerbs.map((verb) => {
      const [isDone, whenDone] = ends[verb] ?? [() => true, "done"];
      const word = verb[0].toUpperCase() + verb.slice(1);
      const path = `/robots/${encodeURIComponent(id)}/${verb}?scene=${encodeURIComponent(this.floor.name)}`;
      return [verb, this.#button(word, () => this.asking.ask({ word, path, isDone, whenDone }))];
    });
  }

  #siteVerbs() {
    const id = this.chosen.id;
    this.buttons.append(el("span", { class: "fine", id: `set-${id}` }, "What lies there is"));
    this.verbs = ["empty", "filled", "unknown"].map((value) => {
      const word = OCCUPANCY[value][2];
      const ask = () =>
        this.asking.ask({
          word: `Set to ${value}`,
          method: "PATCH",
          path: `/worksites/${encodeURIComponent(id)}?scene=${encodeURIComponent(this.floor.name)}`,
          body: { occupancy: value },
          isDone: () => lies(this.floor.sites.get(id) ?? {}) === value,
          whenDone: `${id} counts as ${value}`,
        });
      const button = this.#button(word, ask);
      button.disabled = !this.floor.mayWrite;
      button.title = this.floor.mayWrite ? "" : "Your token may look; this needs an operator's.";
      return [value, button];
    });
  }

  #button(word, ask) {
    const button = el("button", { type: "button", class: "ghost small" }, word);
    button.addEventListener("click", ask);
    this.buttons.append(button);
    return button;
  }

  // -- why -----------------------------------------------------------------------------------------------------------

  // Something about the chosen robot has changed: ask again, not more often than once a second.
  changed() {
    if (this.chosen?.kind !== "robot" || this.whyTimer) return;
    this.whyTimer = setTimeout(() => {
      this.whyTimer = null;
      this.#askWhy();
    }, Math.max(0, this.whyDue - performance.now()));
  }

  async #askWhy() {
    const asked = this.chosen;
    this.whyDue = performance.now() + WHY_MS;
    let rows;
    try {
      const reasons = await call("GET", `/robots/${encodeURIComponent(asked.id)}/why?scene=${encodeURIComponent(this.floor.name)}`);
      rows = reasons.map((reason) => ({ says: reason.says, next: reason.tryNext }));
    } catch (error) {
      rows = [{ says: error.message }];
    }
    if (this.chosen !== asked) return;
    const print = JSON.stringify(rows);
    if (this.why.dataset.print === print) return;
    this.why.dataset.print = print;
    this.why.replaceChildren(
      ...rows.map(({ says, next }) => el("li", {}, says, next ? el("span", { class: "next" }, ` ${next}`) : null)),
    );
  }
}
