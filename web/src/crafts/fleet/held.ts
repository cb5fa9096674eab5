/**
 * The ground that robots hold where it is shared out, and who waits for whom: a broad band over the nodes a robot has
 * been granted, and a dotted line from one that waits to the one it waits for.
 */
import type { Drawing } from "@/parts/map/painter";
import { type Point, screenX, screenY } from "@/parts/map/view";
import type { Colours } from "./colours";
import type { FleetDocument, Robot } from "./model";

/** How wide a robot is where its scene does not say, in metres. */
const WIDE_M = 1;

export interface Held {
  robotId: string;
  /** From where it is to where its ground ends. */
  points: readonly Point[];
  widthM: number;
}

export interface Wait {
  from: Point;
  to: Point;
}

export interface Seen {
  nodeId?: string | null;
  nextNodeId?: string | null;
}

export const sharesGround = (document: FleetDocument): boolean => document.settings?.trafficMode === "RESERVE";

/** The nodes that a robot has still ahead of it; all of its way where it is not seen to be on it. */
export function aheadOf(way: readonly string[], seen: Seen | undefined): readonly string[] {
  const at = seen?.nodeId ? way.indexOf(seen.nodeId) : -1;
  return at < 0 ? way : way.slice(at + 1);
}

/** What every robot holds, as bands; one that has no order holds the spot it stands on. */
export function heldBy(
  robots: readonly Robot[],
  nodes: ReadonlyMap<string, Point>,
  poseOf: (robotId: string) => Point | null,
  seenOf: (robotId: string) => Seen | undefined,
  widths: ReadonlyMap<string, number>,
): Held[] {
  return robots.flatMap((robot) => {
    const pose = poseOf(robot.robotId);
    if (pose === null) return [];
    const ahead = aheadOf(robot.way ?? [], seenOf(robot.robotId)).flatMap((node) => nodes.get(node) ?? []);
    const widthM = widths.get(robot.robotId) ?? WIDE_M;
    return [{ robotId: robot.robotId, points: [pose, ...ahead], widthM }];
  });
}

/** From every robot that waits to the one it waits for, where both can be seen. */
export function waitsOf(robots: readonly Robot[], poseOf: (robotId: string) => Point | null): Wait[] {
  return robots.flatMap((robot) => {
    const from = poseOf(robot.robotId);
    const to = robot.waitsFor ? poseOf(robot.waitsFor) : null;
    return from && to ? [{ from, to }] : [];
  });
}

export function drawHeld({ pen, view }: Drawing, held: readonly Held[], colours: Colours): void {
  pen.lineCap = "round";
  pen.lineJoin = "round";
  pen.strokeStyle = colours.accent;
  pen.globalAlpha = 0.24;
  for (const { points, widthM } of held) {
    pen.lineWidth = Math.max(4, widthM * view.scale);
    pen.beginPath();
    points.forEach((point, number) => {
      const [x, y] = [screenX(view, point.x), screenY(view, point.y)];
      if (number === 0) pen.moveTo(x, y);
      pen.lineTo(x, y);
    });
    pen.stroke();
  }
  pen.globalAlpha = 1;
}

export function drawWaits({ pen, view }: Drawing, waits: readonly Wait[], colours: Colours): void {
  pen.strokeStyle = colours.wait;
  pen.fillStyle = colours.wait;
  pen.lineWidth = 2;
  for (const { from, to } of waits) {
    const [x0, y0, x1, y1] = [screenX(view, from.x), screenY(view, from.y), screenX(view, to.x), screenY(view, to.y)];
    pen.setLineDash([2, 5]);
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
    pen.setLineDash([]);
    drawHead(pen, Math.atan2(y1 - y0, x1 - x0), x1, y1);
  }
}

/** The tip of an arrow. */
function drawHead(pen: CanvasRenderingContext2D, angle: number, x: number, y: number): void {
  pen.save();
  pen.translate(x, y);
  pen.rotate(angle);
  pen.beginPath();
  pen.moveTo(-12, 0);
  pen.lineTo(-21, -5);
  pen.lineTo(-21, 5);
  pen.fill();
  pen.restore();
}
