/**
 * Things that are told of now and then, moved smoothly in between: from where a thing is shown to where it was last
 * said to be, in about the time that passed between the two. Never ahead of what was said.
 */
import type { Point } from "./view";

export interface Pose extends Point {
  /** Radians, against the clock, 0 to the right. */
  heading: number;
}

export interface Glide {
  /** From where it was shown to what was said last, corner by corner. */
  path: readonly Point[];
  lengths: readonly number[];
  total: number;
  startedMs: number;
  tookMs: number;
  /** The direction at the end. */
  heading: number;
}

const SHORTEST_MS = 80;
const LONGEST_MS = 1_500;

/** A glide along a path; `tookMs` is how far apart the last two sayings were. */
export function glideAlong(path: readonly Point[], heading: number, nowMs: number, tookMs: number): Glide {
  const lengths = path.slice(1).map((point, at) => distance(path[at] as Point, point));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  return {
    path,
    lengths,
    total,
    startedMs: nowMs,
    tookMs: Math.min(LONGEST_MS, Math.max(SHORTEST_MS, tookMs)),
    heading,
  };
}

export function standing(at: Pose): Glide {
  return { path: [at], lengths: [], total: 0, startedMs: 0, tookMs: 1, heading: at.heading };
}

export const isGliding = (glide: Glide, nowMs: number): boolean =>
  glide.total > 0 && nowMs < glide.startedMs + glide.tookMs;

/** Where it is shown now. */
export function poseAt(glide: Glide, nowMs: number): Pose {
  const end = glide.path[glide.path.length - 1] as Point;
  const share = (nowMs - glide.startedMs) / glide.tookMs;
  if (share >= 1 || glide.total === 0) return { x: end.x, y: end.y, heading: glide.heading };
  let left = Math.max(0, share) * glide.total;
  for (const [at, length] of glide.lengths.entries()) {
    if (left <= length && length > 0)
      return between(glide.path[at] as Point, glide.path[at + 1] as Point, left / length);
    left -= length;
  }
  return { x: end.x, y: end.y, heading: glide.heading };
}

/** The corners that are still before it, without where it is shown now. */
export function restOf(glide: Glide, nowMs: number): readonly Point[] {
  if (!isGliding(glide, nowMs)) return [];
  let left = Math.max(0, (nowMs - glide.startedMs) / glide.tookMs) * glide.total;
  for (const [at, length] of glide.lengths.entries()) {
    if (left <= length) return glide.path.slice(at + 1);
    left -= length;
  }
  return [];
}

function between(from: Point, to: Point, part: number): Pose {
  return {
    x: from.x + (to.x - from.x) * part,
    y: from.y + (to.y - from.y) * part,
    heading: Math.atan2(to.y - from.y, to.x - from.x),
  };
}

export function distance(one: Point, other: Point): number {
  return Math.hypot(one.x - other.x, one.y - other.y);
}
