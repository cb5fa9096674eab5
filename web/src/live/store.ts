/**
 * What this window knows of the installation: the state as it was read, and every event since.
 *
 * Lists are kept by key. An event whose kind a rule knows changes one row; any other kind that may change what is shown
 * has the state read anew, at most every half second. Changes are taken in once per frame, however many come.
 */
import { asRefusal, get, type Refusal, type Schemas } from "@/api/client";
import { hearServerTime } from "@/api/clock";
import { onUnrecorded } from "@/api/unrecorded";
import { type Line, openLine } from "./line";
import type { Frame, FromLive, LogEvent, Standing } from "./protocol";

export type Row = Record<string, unknown>;
export type Lists = Record<string, ReadonlyMap<string, Row>>;

/** How events change one list of the state. */
export interface ListRule {
  list: string;
  /** The key of a row, made of its fields; `undefined` where the row does not have them. */
  key: (row: Row) => string | undefined;
  /** The row after an event; null takes it away, `undefined` leaves it as it is. */
  kinds: Record<string, (before: Row | undefined, event: LogEvent) => Row | null | undefined>;
}

export interface Snapshot {
  /** False until the state has been read once. */
  ready: boolean;
  /** Whether the server is heard. */
  up: boolean;
  seq: number;
  /** When the last event or state came, by this window's clock. */
  heardAt: number;
  version: string;
  /** Whether the server that is heard leads, or stands by for another one. */
  standing: Standing;
  hold: Schemas["HoldShape"] | null;
  me: Schemas["WhoShape"] | null;
  lists: Lists;
  /** The newest events, the newest last. */
  recent: readonly LogEvent[];
  refusal: Refusal | null;
}

const RECENT = 200;
const READ_AGAIN_MS = 500;
/** Kinds that change nothing the state shows. */
const QUIET = [
  "stepExpanded",
  "modelAsked",
  "modelAnswered",
  "tokenAdded",
  "tokenRevoked",
  "planCreated",
  "planEdited",
  "templateSaved",
  "sceneFileSaved",
  "requestDone",
  "requestMade",
  "fileTrusted",
  "archivesDeleted",
  "requestsForgotten",
];

/** Decisions of these kinds say that a scene is not live: its machines and tasks are shown as held then. */
const STOPS_SCENES = new Set(["not_live", "bug"]);

export class LiveStore {
  private snapshot: Snapshot = {
    ready: false,
    up: false,
    seq: 0,
    heardAt: 0,
    version: "",
    standing: { role: "leads", leader: null },
    hold: null,
    me: null,
    lists: {},
    recent: [],
    refusal: null,
  };
  private readonly watchers = new Set<() => void>();
  private readonly frameWatchers = new Set<(frame: Frame) => void>();
  private readonly eventWatchers = new Set<(event: LogEvent) => void>();
  private readonly rules = new Map<string, ListRule>();
  private readonly byKind = new Map<string, ListRule[]>();
  private readonly quiet: ReadonlySet<string>;
  private readonly waiting: LogEvent[] = [];
  private line: Line | null = null;
  private reading = false;
  private soon: ReturnType<typeof setTimeout> | undefined;
  private applying = false;
  private readAt = 0;
  /** The newest event that watchers were told of: after a reading of the state some come a second time. */
  private told = 0;

  constructor(rules: readonly ListRule[], quiet: readonly string[] = []) {
    this.quiet = new Set([...QUIET, ...quiet]);
    for (const rule of rules) {
      this.rules.set(rule.list, rule);
      for (const kind of Object.keys(rule.kinds)) {
        this.byKind.set(kind, [...(this.byKind.get(kind) ?? []), rule]);
      }
    }
  }

  readonly subscribe = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  readonly current = (): Snapshot => this.snapshot;

  /** Every live frame as it comes, for maps that draw by themselves. */
  onFrame(watcher: (frame: Frame) => void): () => void {
    this.frameWatchers.add(watcher);
    return () => this.frameWatchers.delete(watcher);
  }

  onEvent(watcher: (event: LogEvent) => void): () => void {
    this.eventWatchers.add(watcher);
    return () => this.eventWatchers.delete(watcher);
  }

  async start(): Promise<void> {
    window.addEventListener("pageshow", (event) => {
      // Kept by the browser while another page was shown: nothing was heard meanwhile.
      if (!event.persisted) return;
      this.change({ up: false });
      void this.read();
    });
    // What was done and is not in the log yet makes no event; the state tells of it.
    onUnrecorded(() => this.readSoon());
    await this.read();
  }

  /** Read the whole state, then follow from where it was read. */
  async read(): Promise<void> {
    if (this.reading) {
      this.readSoon();
      return;
    }
    this.reading = true;
    this.readAt = performance.now();
    try {
      const me = this.snapshot.me ?? (await get("/api/v1/me"));
      this.takeState((await get("/api/v1/state")) as unknown as Row, me as Schemas["WhoShape"]);
    } catch (error) {
      const refusal = asRefusal(error);
      this.change({ refusal });
      if (refusal.status !== 401) setTimeout(() => void this.read(), 1_000);
    } finally {
      this.reading = false;
    }
  }

  private takeState(state: Row, me: Schemas["WhoShape"]): void {
    const lists: Record<string, ReadonlyMap<string, Row>> = {};
    for (const [name, value] of Object.entries(state)) {
      if (Array.isArray(value)) lists[name] = this.keyed(name, value as Row[]);
    }
    const seq = Number(state.seq);
    const hold = (state.hold ?? null) as Snapshot["hold"];
    this.change({ ready: true, seq, hold, me, lists, refusal: null, heardAt: Date.now() });
    if (this.line === null) this.line = openLine((message) => this.hear(message));
    this.line.send({ type: "join", seq });
  }

  private keyed(name: string, rows: Row[]): ReadonlyMap<string, Row> {
    const rule = this.rules.get(name);
    const kept = new Map<string, Row>();
    for (const [index, row] of rows.entries()) kept.set(rule?.key(row) ?? String(row.id ?? row.name ?? index), row);
    return kept;
  }

  private readSoon(): void {
    if (this.soon !== undefined) return;
    const wait = Math.max(0, READ_AGAIN_MS - (performance.now() - this.readAt));
    this.soon = setTimeout(() => {
      this.soon = undefined;
      void this.read();
    }, wait);
  }

  private hear(message: FromLive): void {
    if (message.type === "event") this.take(message.event);
    else if (message.type === "frame") for (const watcher of this.frameWatchers) watcher(message.frame);
    else if (message.type === "now") this.hearNow(message.now, message.standing);
    else if (message.type === "gap") this.startOver();
    else if (message.type === "up") this.comeUp(message.version);
    else if (message.type === "stranger") window.dispatchEvent(new Event("beforehand:login"));
    else this.change({ up: false });
  }

  /** Events are missing, or the log is another one, whose numbers may be smaller. */
  private startOver(): void {
    this.told = 0;
    void this.read();
  }

  private hearNow(now: number, standing: Standing): void {
    hearServerTime(now);
    const known = this.snapshot.standing;
    const isNews = known.role !== standing.role || known.leader !== standing.leader;
    if (isNews || known.logAwaySince !== standing.logAwaySince) this.change({ standing });
  }

  private comeUp(version: string): void {
    this.change({ up: true, version, heardAt: Date.now() });
  }

  private take(event: LogEvent): void {
    if (event.seq <= this.snapshot.seq && this.waiting.length === 0) return;
    this.waiting.push(event);
    if (event.seq > this.told) {
      this.told = event.seq;
      for (const watcher of this.eventWatchers) watcher(event);
    }
    if (this.applying) return;
    this.applying = true;
    // A hidden window draws no frames; it keeps up by a timer.
    if (document.visibilityState === "visible") requestAnimationFrame(() => this.apply());
    else setTimeout(() => this.apply(), 250);
  }

  private apply(): void {
    this.applying = false;
    const events = this.waiting.splice(0).filter((event) => event.seq > this.snapshot.seq);
    const last = events.at(-1);
    if (last === undefined) return;
    const changed = new Map<string, Map<string, Row>>();
    let again = false;
    for (const event of events) {
      const rules = this.byKind.get(event.kind);
      for (const rule of rules ?? []) this.patch(rule, event, changed);
      if (rules === undefined && !this.quiet.has(event.kind)) again = true;
      if (STOPS_SCENES.has(String(event.data.kind)) && event.kind.startsWith("decision")) again = true;
    }
    const recent = [...this.snapshot.recent, ...events].slice(-RECENT);
    const lists = changed.size > 0 ? { ...this.snapshot.lists, ...Object.fromEntries(changed) } : this.snapshot.lists;
    this.change({ seq: last.seq, lists, recent, heardAt: Date.now() });
    if (again) this.readSoon();
  }

  private patch(rule: ListRule, event: LogEvent, changed: Map<string, Map<string, Row>>): void {
    const row: Row = { ...event.about, ...event.data };
    if (event.scene) row.scene = event.scene;
    const key = rule.key(row);
    const apply = rule.kinds[event.kind];
    if (key === undefined || apply === undefined) return;
    const list = changed.get(rule.list) ?? new Map(this.snapshot.lists[rule.list] ?? []);
    const after = apply(list.get(key), { ...event, data: row });
    if (after === undefined) return;
    if (after === null) list.delete(key);
    else list.set(key, after);
    changed.set(rule.list, list);
  }

  private change(part: Partial<Snapshot>): void {
    this.snapshot = { ...this.snapshot, ...part };
    for (const watcher of this.watchers) watcher();
  }
}
