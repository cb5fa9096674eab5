// Keeps the page live: one event stream says that something happened, the server renders what there is now, and only
// the cards that changed are exchanged, so that nothing moves under the cursor and nothing typed is lost.
"use strict";

const main = document.querySelector("main[data-seq]");
const byId = (id) => document.getElementById(id);
let lastEventAt = null;

// -- ages ------------------------------------------------------------------------------------------------------------

function age(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 2) return "just now";
  if (s < 60) return `${s} s ago`;
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ago`;
  return `${Math.floor(s / 86400)} d ago`;
}

function showAges() {
  const now = Date.now();
  for (const time of document.querySelectorAll("time[data-age]")) {
    const told = age(now - Date.parse(time.dateTime));
    if (time.textContent !== told) time.textContent = told;
  }
  if (byId("live-age")) byId("live-age").textContent = lastEventAt === null ? "" : `last event ${age(now - lastEventAt)}`;
}

// -- taking over what changed ----------------------------------------------------------------------------------------

function merge(region, fresh) {
  const old = new Map([...region.children].map((card) => [card.dataset.key, card]));
  let place = region.firstElementChild;
  for (const card of [...fresh.children]) {
    const kept = old.get(card.dataset.key);
    old.delete(card.dataset.key);
    const same = kept && (kept.dataset.print === card.dataset.print || isInUse(kept, card));
    if (same && kept === place) {
      place = place.nextElementSibling;
    } else if (same) {
      region.insertBefore(kept, place);
    } else if (kept) {
      keepOpen(kept, card);
      if (kept === place) place = place.nextElementSibling;
      kept.replaceWith(card);
      if (card.nextElementSibling !== place) region.insertBefore(card, place);
    } else {
      region.insertBefore(card, place);
    }
  }
  for (const gone of old.values()) gone.remove();
}

// A card somebody types in stays as it is while it is still asked for.
function isInUse(kept, card) {
  return card.classList.contains("decision") && kept.contains(document.activeElement)
    && document.activeElement.matches("input, textarea");
}

function keepOpen(kept, card) {
  const open = kept.querySelector("details[open]");
  const fold = card.querySelector("details");
  if (open && fold) fold.open = true;
}

function takeOver(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html").querySelector("main[data-seq]");
  if (!fresh) return;
  for (const region of main.querySelectorAll("[data-live]")) {
    merge(region, fresh.querySelector(`[data-live="${region.dataset.live}"]`));
  }
  for (const title of main.querySelectorAll("section > h2")) {
    const now = fresh.querySelector(`#${title.id}`);
    if (title.innerHTML !== now.innerHTML) title.replaceWith(now);
  }
  Object.assign(main.dataset, fresh.dataset);
  document.dispatchEvent(new CustomEvent("beforehand:page"));
  showCounts();
  showAges();
}

function showCounts() {
  const waiting = Number(main.dataset.waiting);
  byId("waiting").textContent = waiting ? `${waiting} ${waiting === 1 ? "needs" : "need"} you` : "";
  byId("waiting").hidden = !waiting;
  byId("scenes").textContent = main.dataset.scenes;
  document.title = waiting ? `(${waiting}) Now · Beforehand` : "Now · Beforehand";
}

let asking = false;
let again = false;

async function refresh() {
  if (!main) return;
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  let restMs = 150;
  const began = performance.now();
  try {
    const answer = await fetch("/page/now");
    if (answer.status === 401) location.assign("/login");
    if (answer.ok) takeOver(await answer.text());
    restMs = Math.max(restMs, 2 * (performance.now() - began)); // what costs the server much is asked for less often
  } catch {
    again = true;
    restMs = 2000;
  }
  setTimeout(() => {
    asking = false;
    if (again) {
      again = false;
      refresh();
    }
  }, restMs);
}

// -- the stream ------------------------------------------------------------------------------------------------------

function showLive(state, word) {
  byId("live").className = `live ${state}`;
  if (byId("live-word").textContent !== word) byId("live-word").textContent = word;
}

function follow(after) {
  let seen = after;
  const stream = new EventSource(`/api/v1/events?after=${after}`);
  stream.onopen = () => {
    showLive("on", "Live");
    setClock();
    document.dispatchEvent(new CustomEvent("beforehand:open"));
    refresh();
  };
  stream.onmessage = (message) => {
    seen = Number(message.lastEventId);
    const event = JSON.parse(message.data);
    lastEventAt = Date.parse(event.ts);
    document.dispatchEvent(new CustomEvent("beforehand:event", { detail: event }));
    showAges();
    refresh();
  };
  stream.onerror = () => {
    showLive("off", "Not connected, trying again");
    if (stream.readyState === EventSource.CLOSED) {
      setTimeout(() => follow(seen), 2000);
    }
  };
}

// -- answering -------------------------------------------------------------------------------------------------------

// What is asked for is done once, and not long after somebody asked: a click that waited behind something is dropped.
const PATIENCE_MS = 10_000;
let aheadMs = 0;

async function setClock() {
  const told = await fetch("/api/v1/health").then((answer) => answer.json()).catch(() => ({}));
  if (told.now) aheadMs = told.now - Date.now();
}

function once() {
  const key = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return { "Idempotency-Key": key, "Beforehand-Deadline": String(Math.round(Date.now() + aheadMs + PATIENCE_MS)) };
}

async function call(path, body) {
  const answer = await fetch(`/api/v1${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...once() },
    body: JSON.stringify(body ?? {}),
  });
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error([told.detail ?? `The server answered ${answer.status}.`, told.hint].filter(Boolean).join(" "));
  return told;
}

async function during(card, work) {
  const said = card.querySelector(".said");
  const buttons = [...card.querySelectorAll("button:not([data-preview])")];
  said.textContent = "";
  said.classList.remove("wrong");
  buttons.forEach((button) => (button.disabled = true));
  try {
    said.textContent = "Asked …";
    await work();
    said.textContent = "Taken.";
  } catch (error) {
    said.classList.add("wrong");
    said.textContent = error.message;
    buttons.forEach((button) => (button.disabled = false));
  }
  refresh();
}

function valueOf(form, verb) {
  const text = form.elements.text?.value;
  if (verb === "answer") {
    if (!text) throw new Error("Write an answer first.");
    return text;
  }
  const json = form.elements.json?.value.trim();
  if (!json || !["retry", "insert"].includes(verb)) return undefined;
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new Error(`The value is no JSON: ${error.message}.`);
  }
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  event.preventDefault();
  if (form.id === "login") {
    during(form, async () => {
      await call("/login", { token: form.elements.token.value });
      location.assign("/");
    });
    return;
  }
  const verb = event.submitter?.value ?? form.querySelector("button").value;
  during(form, async () => {
    const value = valueOf(form, verb);
    await call(`/inbox/${encodeURIComponent(form.dataset.decision)}`, value === undefined ? { verb } : { verb, value });
  });
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.run) {
    during(button.closest(".card"), () => call(`/runs/${encodeURIComponent(button.dataset.run)}/${button.dataset.verb}`));
  } else if (button.dataset.preview) {
    showPreview(button);
  } else if (button.id === "logout") {
    call("/logout").then(() => location.assign("/login"));
  }
});

async function showPreview(button) {
  const place = button.parentElement.querySelector(".preview-shown");
  if (place.firstChild) {
    place.replaceChildren();
    button.textContent = "See what it would do";
    return;
  }
  button.disabled = true;
  const path = `/page/preview/${encodeURIComponent(button.dataset.preview)}?version=${button.dataset.version}`;
  try {
    const answer = await fetch(path);
    const text = await answer.text();
    if (!answer.ok) throw new Error(JSON.parse(text).detail);
    const shown = new DOMParser().parseFromString(text, "text/html");
    place.replaceChildren(...shown.body.childNodes);
    button.textContent = "Hide it again";
  } catch (error) {
    place.textContent = error.message;
  }
  button.disabled = false;
}

// -- start -----------------------------------------------------------------------------------------------------------

if (main) {
  const newest = main.querySelector('[data-live="events"] time');
  lastEventAt = newest ? Date.parse(newest.dateTime) : null;
  showCounts();
  showAges();
  setInterval(showAges, 1000);
  follow(Number(main.dataset.seq));
}
