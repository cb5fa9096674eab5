/**
 * Where a map's metres are on the screen: pan, zoom and fit as plain functions over a frozen view.
 *
 * The world's y grows upwards, as on a floor plan; the screen's grows downwards.
 */
export interface Point {
  x: number;
  y: number;
}

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface Size {
  width: number;
  height: number;
}

/** Pixels a metre, and where the world's origin is on the screen. */
export interface View {
  scale: number;
  originX: number;
  originY: number;
}

const SMALLEST = 0.02;
const LARGEST = 400;

export const screenX = (view: View, x: number): number => view.originX + x * view.scale;
export const screenY = (view: View, y: number): number => view.originY - y * view.scale;

/** The box round all points; one metre where there is only one. */
export function boundsOf(points: Iterable<Point>): Box {
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { x, y } of points) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    bottom = Math.min(bottom, y);
    top = Math.max(top, y);
  }
  return left > right ? { left: 0, right: 1, bottom: 0, top: 1 } : { left, right, bottom, top };
}

export function fitted(bounds: Box, size: Size, pad: { x: number; y: number }): View {
  const wide = Math.max(bounds.right - bounds.left, 1);
  const high = Math.max(bounds.top - bounds.bottom, 1);
  const room = { x: Math.max(size.width - 2 * pad.x, 40), y: Math.max(size.height - 2 * pad.y, 40) };
  const scale = clamp(Math.min(room.x / wide, room.y / high), SMALLEST, LARGEST);
  return {
    scale,
    originX: size.width / 2 - ((bounds.left + bounds.right) / 2) * scale,
    originY: size.height / 2 + ((bounds.bottom + bounds.top) / 2) * scale,
  };
}

/** Zoomed so that what is under `at` stays there. */
export function zoomed(view: View, at: Point, by: number): View {
  const scale = clamp(view.scale * by, SMALLEST, LARGEST);
  const real = scale / view.scale;
  return {
    scale,
    originX: at.x - (at.x - view.originX) * real,
    originY: at.y - (at.y - view.originY) * real,
  };
}

export function moved(view: View, dx: number, dy: number): View {
  return { ...view, originX: view.originX + dx, originY: view.originY + dy };
}

/** Moved as little as needed for the map to stay in sight: its middle third never leaves the screen. */
export function kept(view: View, bounds: Box, size: Size): View {
  const [left, right] = [screenX(view, bounds.left), screenX(view, bounds.right)];
  const [top, bottom] = [screenY(view, bounds.top), screenY(view, bounds.bottom)];
  const [midX, midY] = [(left + right) / 2, (top + bottom) / 2];
  const [halfX, halfY] = [(right - left) / 2, (bottom - top) / 2];
  const dx = clamp(midX, -halfX + 60, size.width + halfX - 60) - midX;
  const dy = clamp(midY, -halfY + 60, size.height + halfY - 60) - midY;
  return dx === 0 && dy === 0 ? view : moved(view, dx, dy);
}

/** A view with one place of the world in the middle of the screen. */
export function centred(view: View, at: Point, size: Size): View {
  return { ...view, originX: size.width / 2 - at.x * view.scale, originY: size.height / 2 + at.y * view.scale };
}

export function clamp(value: number, low: number, high: number): number {
  return low > high ? (low + high) / 2 : Math.min(Math.max(value, low), high);
}
