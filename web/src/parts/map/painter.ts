/** What a map's owner brings: what there is, how it is drawn, and what is under a point of the screen. */
import type { Box, Point, Size, View } from "./view";

export interface Drawing {
  pen: CanvasRenderingContext2D;
  view: View;
  size: Size;
  /** Device pixels a pixel. */
  dense: number;
  nowMs: number;
  /** Whether nothing may glide. */
  calm: boolean;
}

export interface Painter<Hit> {
  /** The box of the world that fitting shows. */
  bounds: () => Box;
  /** Room round it for names, in pixels. */
  pad: (size: Size) => { x: number; y: number };
  /** What seldom changes, drawn on a canvas of its own. */
  ground: (drawing: Drawing) => void;
  /** What moves; true while it has to be drawn again by itself. */
  moving: (drawing: Drawing) => boolean;
  /** What is there; `near` is how far off a pointer may be. */
  hit: (at: Point, view: View, near: number, nowMs: number) => Hit | null;
  /** What the pointer is over; true where that is drawn differently. */
  hover?: (hit: Hit | null) => boolean;
  /** Colours have changed. */
  recolour?: () => void;
  /** Where to zoom in when this is picked, such as a label that stands for several things. */
  zoomsInto?: (hit: Hit) => Point | null;
  /** What the painter calls when its ground, or only what moves, has changed, or when a place must be in sight. */
  changed: Changed;
}

export interface Changed {
  ground: () => void;
  moving: () => void;
  reveal: (at: Point) => void;
}

const nothing = () => undefined;
export const unheard = (): Changed => ({ ground: nothing, moving: nothing, reveal: nothing });
