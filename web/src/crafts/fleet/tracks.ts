/** Where every robot of a floor is shown: what frames say of it, glided over along the ways. */
import type { Frame } from "@/live/protocol";
import { distance, type Glide, glideAlong, isGliding, type Pose, poseAt, restOf, standing } from "@/parts/map/glide";
import type { Point } from "@/parts/map/view";
import type { Robot } from "./model";
import type { Ways } from "./ways";

/** What a frame says of one robot. */
export interface Seen {
  robotId: string;
  x: number;
  y: number;
  heading?: number;
  nodeId?: string | null;
  nextNodeId?: string | null;
  battery?: number | null;
  phase?: string;
  status?: string;
  lastSeenTsMs?: number;
}

interface Track {
  seen: Seen;
  glide: Glide;
  /** Frames in a row in which it did not move. */
  still: number;
}

const MOVED_M = 0.01;

export class Tracks {
  private readonly all = new Map<string, Track>();
  private frameTs: number | null = null;
  /** How many frames have come, and when the last one did by this window's clock. */
  frames = 0;
  heardAt = 0;

  constructor(public ways: Ways) {}

  /** Where robots are before the first frame; one without a place is not shown. */
  begin(robots: Iterable<Robot>): void {
    for (const robot of robots) {
      if (this.all.has(robot.robotId) || typeof robot.x !== "number" || typeof robot.y !== "number") continue;
      const at = { x: robot.x, y: robot.y, heading: robot.heading ?? 0 };
      this.all.set(robot.robotId, { seen: { robotId: robot.robotId, ...at }, glide: standing(at), still: 0 });
    }
  }

  take(frame: Frame, nowMs: number): void {
    const tookMs = this.frameTs === null ? 1 : frame.ts - this.frameTs;
    this.frameTs = frame.ts;
    this.frames += 1;
    this.heardAt = Date.now();
    for (const seen of (frame.robots ?? []) as Seen[]) this.hear(seen, nowMs, tookMs);
  }

  private hear(seen: Seen, nowMs: number, tookMs: number): void {
    const before = this.all.get(seen.robotId);
    const heading = seen.heading ?? 0;
    if (before === undefined) {
      const glide = standing({ x: seen.x, y: seen.y, heading });
      this.all.set(seen.robotId, { seen, glide, still: 0 });
      return;
    }
    const isStill = distance(before.seen, seen) <= MOVED_M;
    const goesOn = isStill && isGliding(before.glide, nowMs);
    const glide = goesOn
      ? { ...before.glide, heading }
      : glideAlong(this.cameAlong(before, seen, nowMs), heading, nowMs, tookMs);
    this.all.set(seen.robotId, { seen, glide, still: isStill ? before.still + 1 : 0 });
  }

  /** From where it is shown, over what is still before it and the nodes it must have passed, to where it is said to be. */
  private cameAlong(before: Track, seen: Seen, nowMs: number): Point[] {
    const shown = poseAt(before.glide, nowMs);
    const last = before.seen;
    const here = { x: seen.x, y: seen.y };
    const sameEdge = last.nodeId === seen.nodeId && last.nextNodeId === seen.nextNodeId;
    const from = last.nextNodeId ?? last.nodeId;
    const passed = sameEdge || !from || !seen.nodeId ? null : this.ways.shortHop(from, seen.nodeId);
    return [shown, ...restOf(before.glide, nowMs), ...(passed ?? []), here];
  }

  poseOf(robotId: string, nowMs: number, calm: boolean): Pose | null {
    const track = this.all.get(robotId);
    return track === undefined ? null : poseAt(track.glide, calm ? Infinity : nowMs);
  }

  seenOf(robotId: string): Seen | undefined {
    return this.all.get(robotId)?.seen;
  }

  /** Whether it has not moved for a while. */
  stands(robotId: string): boolean {
    return (this.all.get(robotId)?.still ?? 0) >= 2;
  }

  isGliding(nowMs: number): boolean {
    for (const track of this.all.values()) if (isGliding(track.glide, nowMs)) return true;
    return false;
  }

  forget(keep: ReadonlySet<string>): void {
    for (const id of this.all.keys()) if (!keep.has(id)) this.all.delete(id);
  }
}
