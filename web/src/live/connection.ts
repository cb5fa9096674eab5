/**
 * The one connection of this browser to `/api/v1/live`, and who listens to it.
 *
 * It keeps the newest events, so that a window that read the state a moment ago gets what happened since; one that is
 * too far behind is told of a gap. It runs in a SharedWorker, or in one leading window where there are none.
 */
import type { FromLive, LogEvent, Standing, ToLive } from "./protocol";

const URL_LIVE = "/api/v1/live";
const URL_ME = "/api/v1/me";
/** `EventSource.CLOSED` */
const CLOSED = 2;
const KEPT = 2_000;
/** The server says something every second; this long without a word means that it is lost. */
const SILENCE_MS = 1_900;
const AGAIN_MS = [200, 500, 1_000, 2_000] as const;
/** Further behind than this the state is read anew instead of the events. */
const TOO_FAR = 5_000;

export type Listener = (message: FromLive) => void;

export class Connection {
  private source: EventSource | null = null;
  private readonly listeners = new Map<object, Listener>();
  private kept: LogEvent[] = [];
  private last = 0;
  private log = "";
  private up: Extract<FromLive, { type: "up" }> | null = null;
  private tries = 0;
  private watch: ReturnType<typeof setTimeout> | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private ended = false;

  take(who: object, listener: Listener, message: ToLive): void {
    if (message.type === "leave") this.listeners.delete(who);
    else this.join(who, listener, message.seq);
  }

  /** Everything after `seq` that is kept, then everything that comes. */
  private join(who: object, listener: Listener, seq: number): void {
    this.listeners.set(who, listener);
    if (this.source === null && this.retry === undefined && !this.ended) {
      this.last = seq;
      this.open();
      return;
    }
    const first = this.kept[0]?.seq ?? this.last + 1;
    if (seq > this.last || seq < first - 1) {
      if (seq < this.last) listener({ type: "gap" });
    } else {
      for (const event of this.kept) if (event.seq > seq) listener({ type: "event", event });
    }
    listener(this.up ?? { type: "down" });
  }

  close(): void {
    this.ended = true;
    this.drop();
  }

  private tell(message: FromLive): void {
    for (const listener of this.listeners.values()) listener(message);
  }

  private open(): void {
    const source = new EventSource(`${URL_LIVE}?after=${this.last}`);
    this.source = source;
    this.listen();
    source.addEventListener("hello", (message) => this.hello(JSON.parse(message.data)));
    source.addEventListener("now", (message) => {
      this.listen();
      this.hearNow(JSON.parse(message.data));
    });
    source.addEventListener("frame", (message) => {
      this.listen();
      this.tell({ type: "frame", frame: JSON.parse(message.data) });
    });
    source.addEventListener("message", (message) => {
      this.listen();
      this.keep(JSON.parse(message.data));
    });
    source.addEventListener("error", () => {
      // Closed by the browser itself: the server answered, but not with a stream.
      const answered = source.readyState === CLOSED;
      this.lose();
      if (answered) void this.askWhoThisIs();
    });
  }

  /** Somebody else than before: what is open was opened as the one before. */
  anew(): void {
    if (this.source === null && this.retry === undefined) return;
    this.drop();
    this.up = null;
    this.tell({ type: "down" });
    this.open();
  }

  /** A token that is not known any more will not be known in two seconds; the windows ask for another one. */
  private async askWhoThisIs(): Promise<void> {
    const answer = await fetch(URL_ME, { credentials: "same-origin" }).catch(() => null);
    if (answer?.status !== 401 || this.up !== null) return;
    this.drop();
    this.tell({ type: "stranger" });
  }

  private hearNow(said: { now: number } & Standing): void {
    const { role, leader, logAwaySince } = said;
    const away = logAwaySince === undefined ? {} : { logAwaySince };
    this.tell({ type: "now", now: said.now, standing: { role, leader, ...away } });
  }

  private hello(said: { now: number; seq: number; boot: string; version: string; log: string } & Standing): void {
    this.listen();
    this.tries = 0;
    const another = this.log !== "" && this.log !== said.log;
    this.log = said.log;
    if (another || said.seq < this.last || said.seq - this.last > TOO_FAR) {
      this.startOver(said.seq);
      return;
    }
    this.up = { type: "up", seq: said.seq, boot: said.boot, version: said.version };
    this.hearNow(said);
    this.tell(this.up);
  }

  /** Another log, or too much of this one: follow from its end, and let every window read the state anew. */
  private startOver(seq: number): void {
    this.drop();
    this.kept = [];
    this.last = seq;
    this.tell({ type: "gap" });
    this.open();
  }

  private keep(event: LogEvent): void {
    if (event.seq <= this.last) return;
    this.last = event.seq;
    this.kept.push(event);
    if (this.kept.length > KEPT * 2) this.kept = this.kept.slice(-KEPT);
    this.tell({ type: "event", event });
  }

  private listen(): void {
    clearTimeout(this.watch);
    this.watch = setTimeout(() => this.lose(), SILENCE_MS);
  }

  private lose(): void {
    this.drop();
    this.up = null;
    this.tell({ type: "down" });
    const wait = AGAIN_MS[Math.min(this.tries, AGAIN_MS.length - 1)];
    this.tries += 1;
    this.retry = setTimeout(() => {
      this.retry = undefined;
      this.open();
    }, wait);
  }

  private drop(): void {
    clearTimeout(this.watch);
    clearTimeout(this.retry);
    this.retry = undefined;
    this.source?.close();
    this.source = null;
  }
}
