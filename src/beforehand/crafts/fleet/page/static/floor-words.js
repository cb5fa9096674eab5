// States of robots and worksites as people see them: each a tone, a shape and a word. Sentences come from the server.

export const SHAPES = {
  ring: '<circle cx="8" cy="8" r="5.5" fill="none" stroke="currentColor" stroke-width="2"/>',
  play: '<path d="M4 2.5v11l9.5-5.5z" fill="currentColor"/>',
  up: '<path d="M8 2l5.5 6H10v6H6V8H2.5z" fill="currentColor"/>',
  down: '<path d="M8 14l5.5-6H10V2H6v6H2.5z" fill="currentColor"/>',
  park: '<path d="M5.5 14V2.5h3.6a3.3 3.3 0 0 1 0 6.6H5.5" fill="none" stroke="currentColor" stroke-width="2.2"/>',
  bolt: '<path d="M9 1L3 9h4l-1 6 7-9H9z" fill="currentColor"/>',
  cross: '<path d="M3.5 3.5l9 9m0-9l-9 9" fill="none" stroke="currentColor" stroke-width="2.4"/>',
  bars: '<path d="M5 3v10M11 3v10" stroke="currentColor" stroke-width="3"/>',
  hatch: '<path d="M2 14L14 2M2 9l7-7M7 14l7-7" stroke="currentColor" stroke-width="1.7"/>',
  barred: '<circle cx="8" cy="8" r="5.5" fill="none" stroke="currentColor" stroke-width="2"/><path d="M4.2 11.8l7.6-7.6" stroke="currentColor" stroke-width="2"/>',
  hollow: '<rect x="2.5" y="2.5" width="11" height="11" rx="2" fill="none" stroke="currentColor" stroke-width="1.8"/>',
  full: '<rect x="2.5" y="2.5" width="11" height="11" rx="2" fill="currentColor"/>',
  doubt: '<rect x="2.5" y="2.5" width="11" height="11" rx="2" fill="none" stroke="currentColor" stroke-width="1.6" stroke-dasharray="3 2"/><path d="M6 6.3a2 2 0 1 1 2.2 2v1m0 1.2v1" fill="none" stroke="currentColor" stroke-width="1.5"/>',
  ringed: '<rect x="5" y="5" width="6" height="6" rx="1" fill="currentColor"/><circle cx="8" cy="8" r="6.8" fill="none" stroke="currentColor" stroke-width="1.8"/>',
  route: '<path d="M1 12h6V5h8" fill="none" stroke="currentColor" stroke-width="1.8" stroke-dasharray="3 2"/>',
};

export const PHASES = {
  idle: ["quiet", "ring", "Idle"],
  moving_to_pick: ["busy", "play", "Driving to pick"],
  picking: ["busy", "up", "Picking"],
  moving_to_drop: ["busy", "play", "Driving to drop"],
  dropping: ["busy", "down", "Dropping"],
  parking: ["quiet", "park", "Parking"],
  parked: ["quiet", "park", "Parked"],
  charging: ["good", "bolt", "Charging"],
  error: ["bad", "cross", "Error"],
  held: ["wait", "bars", "Held"],
  blocked: ["bad", "barred", "Blocked"],
  silent: ["doubt", "hatch", "Silent"],
};

export const OCCUPANCY = {
  empty: ["quiet", "hollow", "Empty"],
  filled: ["load", "full", "Filled"],
  reserved: ["wait", "ringed", "Reserved"],
  unknown: ["doubt", "doubt", "Unknown"],
};

export const LEGEND = [
  ["busy", "play", "Working"],
  ["quiet", "park", "Parked"],
  ["good", "bolt", "Charging"],
  ["wait", "bars", "Held"],
  ["bad", "cross", "Error"],
  ["doubt", "hatch", "Silent"],
  ["quiet", "hollow", "Empty place"],
  ["load", "full", "Pallet"],
  ["wait", "ringed", "Reserved"],
  ["doubt", "doubt", "Unknown"],
  ["busy", "route", "Way ahead"],
];

// What a robot shows as: its phase, unless it is silent or something stands in its way.
export function shownPhase(robot) {
  if (robot.status === "offline") return "silent";
  if (robot.status === "blocked" && robot.phase !== "error") return "blocked";
  if (robot.held || robot.paused) return "held";
  if (robot.phase === "idle" && robot.errand?.kind === "park" && robot.errand.state === "there") return "parked";
  return robot.phase in PHASES ? robot.phase : "idle";
}

export function lies(site) {
  return site.occupancy === "reserved" ? (site.occupancyBefore ?? "unknown") : site.occupancy;
}

export function age(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 2) return "just now";
  if (s < 60) return `${s} s ago`;
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  return `${Math.floor(s / 3600)} h ago`;
}

export const percent = (share) => (share === undefined || share === null ? "unknown" : `${Math.round(share * 100)} %`);

// What a robot does, in the words the server has for it; a silent one also with when it was last seen.
export function doing(robot, now) {
  const says = robot.says ?? "";
  return shownPhase(robot) === "silent" ? `${says} Last seen ${age(now - robot.lastSeenTsMs)}.`.trim() : says;
}

export function shape(name) {
  const holder = document.createElement("template");
  holder.innerHTML = `<svg class="shape" viewBox="0 0 16 16" aria-hidden="true">${SHAPES[name]}</svg>`;
  return holder.content.firstChild;
}

export function mark([tone, form, word]) {
  return el("span", { class: `mark ${tone}` }, shape(form), word);
}

export function el(name, attributes, ...parts) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...parts.filter((part) => part !== null && part !== undefined));
  return made;
}

// Changes an element's text only when it is another.
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
