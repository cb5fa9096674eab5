/** Robots and their name plates, each drawn once and kept: a thousand of them are then only copied. */
import { lookOf } from "@/parts/StateMark";
import { type Colours, colourOf } from "./colours";

export interface Sprite {
  picture: HTMLCanvasElement;
  width: number;
  height: number;
}

const MOST_KEPT = 4_000;

export class Sprites {
  private readonly kept = new Map<string, Sprite>();

  constructor(
    private readonly colours: Colours,
    private readonly dense: number,
  ) {}

  isFor(colours: Colours, dense: number): boolean {
    return this.colours === colours && this.dense === dense;
  }

  private get(key: string, make: () => Sprite): Sprite {
    const known = this.kept.get(key);
    if (known) return known;
    if (this.kept.size >= MOST_KEPT) this.kept.clear();
    const made = make();
    this.kept.set(key, made);
    return made;
  }

  /** A forklift from above, heading right, its middle in the middle of the picture. */
  robot(state: string, isLoaded: boolean, long: number): Sprite {
    return this.get(`robot ${state} ${isLoaded} ${long}`, () => {
      const sprite = this.blank(long * 2.4, long * 1.5);
      const pen = penOf(sprite, this.dense);
      pen.translate(sprite.width / 2, sprite.height / 2);
      drawRobot(pen, state, isLoaded, long, this.colours);
      return sprite;
    });
  }

  plate(name: string, state: string, note: string): Sprite {
    return this.get(`plate ${name} ${state} ${note}`, () => {
      const text = note ? `${name}  ${note}` : name;
      const wide = measured(`640 ${PLATE_PX}px ${this.colours.font}`, text);
      const sign = SIGNS[lookOf(state).shape] !== undefined && isStopped(state) ? 12 : 0;
      const sprite = this.blank(wide + 10 + sign, PLATE_PX + 9);
      drawPlate(penOf(sprite, this.dense), sprite, text, state, sign, this.colours);
      return sprite;
    });
  }

  cluster(text: string): Sprite {
    return this.get(`cluster ${text}`, () => {
      const wide = measured(`640 ${PLATE_PX}px ${this.colours.font}`, text);
      const sprite = this.blank(wide + 14, PLATE_PX + 7);
      drawCluster(penOf(sprite, this.dense), sprite, text, this.colours);
      return sprite;
    });
  }

  private blank(width: number, height: number): Sprite {
    const picture = document.createElement("canvas");
    picture.width = Math.ceil(width * this.dense);
    picture.height = Math.ceil(height * this.dense);
    return { picture, width, height };
  }
}

const PLATE_PX = 11;
const STOPPED = new Set(["held", "error", "offline", "blocked", "out_of_service"]);
export const isStopped = (state: string): boolean => STOPPED.has(state);
const SIGNS: Partial<Record<string, (pen: CanvasRenderingContext2D) => void>> = {
  bar: (pen) => lines(pen, [-2, -4, -2, 4], [2, -4, 2, 4]),
  cross: (pen) => lines(pen, [-3.5, -3.5, 3.5, 3.5], [3.5, -3.5, -3.5, 3.5]),
  slash: (pen) => {
    pen.beginPath();
    pen.arc(0, 0, 4, 0, 2 * Math.PI);
    pen.stroke();
    lines(pen, [-2.8, 2.8, 2.8, -2.8]);
  },
};

function lines(pen: CanvasRenderingContext2D, ...all: number[][]): void {
  pen.beginPath();
  for (const [x1, y1, x2, y2] of all) {
    pen.moveTo(x1 ?? 0, y1 ?? 0);
    pen.lineTo(x2 ?? 0, y2 ?? 0);
  }
  pen.stroke();
}

let ruler: CanvasRenderingContext2D | null = null;

function measured(font: string, text: string): number {
  ruler ??= document.createElement("canvas").getContext("2d");
  if (ruler === null) return text.length * 7;
  ruler.font = font;
  return ruler.measureText(text).width;
}

function penOf(sprite: Sprite, dense: number): CanvasRenderingContext2D {
  const pen = sprite.picture.getContext("2d");
  if (pen === null) throw new Error("This browser cannot draw maps.");
  pen.scale(dense, dense);
  return pen;
}

function drawRobot(
  pen: CanvasRenderingContext2D,
  state: string,
  isLoaded: boolean,
  long: number,
  colours: Colours,
): void {
  const tone = colourOf(colours, state);
  const half = long * 0.36;
  pen.strokeStyle = tone;
  pen.lineWidth = Math.max(1.6, long * 0.12);
  lines(
    pen,
    [long * 0.2, -half * 0.55, long * 0.72, -half * 0.55],
    [long * 0.2, half * 0.55, long * 0.72, half * 0.55],
  );
  const isSilent = state === "offline";
  const isIdle = ["idle", "parked", "out_of_service"].includes(state);
  pen.fillStyle = isSilent || isIdle ? colours.surface : tone;
  pen.strokeStyle = isSilent || isIdle ? tone : colours.surface;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.roundRect(-long * 0.55, -half, long * 0.8, 2 * half, 3);
  pen.fill();
  pen.stroke();
  if (isSilent) hatch(pen, long, half, tone);
  if (isLoaded) drawPallet(pen, long, half, colours);
  drawSign(pen, state, long, isSilent ? null : colours.surface);
}

function drawPallet(pen: CanvasRenderingContext2D, long: number, half: number, colours: Colours): void {
  pen.fillStyle = colours.pallet;
  pen.strokeStyle = colours.surface;
  pen.lineWidth = 1.2;
  pen.fillRect(long * 0.3, -half * 0.95, half * 1.9, half * 1.9);
  pen.strokeRect(long * 0.3, -half * 0.95, half * 1.9, half * 1.9);
}

function drawSign(pen: CanvasRenderingContext2D, state: string, long: number, colour: string | null): void {
  const sign = SIGNS[lookOf(state).shape];
  if (colour === null || !sign || !isStopped(state) || state === "out_of_service") return;
  pen.save();
  pen.translate(-long * 0.15, 0);
  pen.scale(long / 20, long / 20);
  pen.strokeStyle = colour;
  pen.lineWidth = 2.2;
  sign(pen);
  pen.restore();
}

function hatch(pen: CanvasRenderingContext2D, long: number, half: number, tone: string): void {
  pen.save();
  pen.clip();
  pen.strokeStyle = tone;
  pen.lineWidth = 1.4;
  pen.beginPath();
  for (let at = -long; at < long; at += 4) {
    pen.moveTo(at, -half);
    pen.lineTo(at + 2 * half, half);
  }
  pen.stroke();
  pen.restore();
}

function drawPlate(
  pen: CanvasRenderingContext2D,
  { width, height }: Sprite,
  text: string,
  state: string,
  sign: number,
  colours: Colours,
): void {
  pen.globalAlpha = 0.92;
  pen.fillStyle = colours.surface;
  pen.beginPath();
  pen.roundRect(0, 0, width, height, 4);
  pen.fill();
  pen.globalAlpha = 1;
  pen.font = `640 ${PLATE_PX}px ${colours.font}`;
  pen.textBaseline = "middle";
  const isCalm = ["idle", "parked", "out_of_service"].includes(state);
  pen.fillStyle = isStopped(state) ? colourOf(colours, state) : isCalm ? colours.soft : colours.ink;
  pen.fillText(text, 5 + sign, height / 2 - 0.5);
  if (sign === 0) return;
  pen.translate(10, height / 2 - 1);
  pen.strokeStyle = colourOf(colours, state);
  pen.lineWidth = 1.8;
  SIGNS[lookOf(state).shape]?.(pen);
}

function drawCluster(pen: CanvasRenderingContext2D, { width, height }: Sprite, text: string, colours: Colours): void {
  pen.fillStyle = colours.surface;
  pen.strokeStyle = colours.lineStrong;
  pen.beginPath();
  pen.roundRect(0.5, 0.5, width - 1, height - 1, height / 2);
  pen.fill();
  pen.stroke();
  pen.font = `640 ${PLATE_PX}px ${colours.font}`;
  pen.textBaseline = "middle";
  pen.textAlign = "center";
  pen.fillStyle = colours.soft;
  pen.fillText(text, width / 2, height / 2 + 0.5);
}
