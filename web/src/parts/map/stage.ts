/** The loop behind a map: sizes for any pixel ratio, a ground drawn once, and over it what moves. */
import type { Drawing, Painter } from "./painter";
import { centred, fitted, kept, moved, type Point, type Size, screenX, screenY, type View, zoomed } from "./view";

const MOST_DENSE = 2;
const EDGE_PX = 24;

export class MapStage<Hit> {
  view: View = { scale: 1, originX: 0, originY: 0 };
  size: Size = { width: 0, height: 0 };
  private readonly pen: CanvasRenderingContext2D;
  private readonly groundCanvas = document.createElement("canvas");
  private dense = 1;
  private isFitted = true;
  private groundIsOld = true;
  private isDue = true;
  private isSeen = true;
  private turn = 0;
  private drawn = 0;
  private countedAt = 0;
  private readonly calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  private readonly sizes: ResizeObserver;
  private readonly sight: IntersectionObserver;

  constructor(
    readonly canvas: HTMLCanvasElement,
    readonly painter: Painter<Hit>,
  ) {
    const pen = canvas.getContext("2d");
    if (pen === null) throw new Error("This browser cannot draw maps.");
    this.pen = pen;
    painter.changed = {
      ground: () => this.repaintGround(),
      moving: () => this.redraw(),
      reveal: (at) => this.reveal(at),
    };
    painter.recolour?.();
    this.sizes = new ResizeObserver(() => this.resize());
    this.sizes.observe(canvas);
    this.sight = new IntersectionObserver(([entry]) => {
      this.isSeen = entry?.isIntersecting ?? true;
    });
    this.sight.observe(canvas);
    this.resize();
    this.turn = requestAnimationFrame(this.loop);
  }

  stop(): void {
    cancelAnimationFrame(this.turn);
    this.sizes.disconnect();
    this.sight.disconnect();
  }

  // -- the view ------------------------------------------------------------------------------------------------------

  fit(): void {
    this.isFitted = true;
    this.show(fitted(this.painter.bounds(), this.size, this.painter.pad(this.size)));
  }

  pan(dx: number, dy: number): void {
    this.isFitted = false;
    this.show(kept(moved(this.view, dx, dy), this.painter.bounds(), this.size));
  }

  zoomAt(at: Point, by: number): void {
    this.isFitted = false;
    this.show(kept(zoomed(this.view, at, by), this.painter.bounds(), this.size));
  }

  zoomBy(by: number): void {
    this.zoomAt({ x: this.size.width / 2, y: this.size.height / 2 }, by);
  }

  /** Bring a place of the world into sight where it is not. */
  reveal(at: Point): void {
    const [x, y] = [screenX(this.view, at.x), screenY(this.view, at.y)];
    if (x > EDGE_PX && y > EDGE_PX && x < this.size.width - EDGE_PX && y < this.size.height - EDGE_PX) return;
    this.isFitted = false;
    this.show(centred(this.view, at, this.size));
  }

  private show(view: View): void {
    this.view = view;
    const { scale, originX, originY } = view;
    Object.assign(this.canvas.dataset, { scale, originX, originY });
    this.repaintGround();
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.canvas;
    const dense = Math.min(MOST_DENSE, window.devicePixelRatio || 1);
    if (clientWidth === this.size.width && clientHeight === this.size.height && dense === this.dense) return;
    const before = this.size;
    this.size = { width: clientWidth, height: clientHeight };
    this.dense = dense;
    for (const canvas of [this.canvas, this.groundCanvas]) {
      canvas.width = Math.max(1, Math.round(clientWidth * dense));
      canvas.height = Math.max(1, Math.round(clientHeight * dense));
    }
    if (this.isFitted || before.width === 0) this.fit();
    else this.show(moved(this.view, (clientWidth - before.width) / 2, (clientHeight - before.height) / 2));
  }

  // -- drawing -------------------------------------------------------------------------------------------------------

  redraw(): void {
    this.isDue = true;
  }

  repaintGround(): void {
    this.groundIsOld = true;
    this.isDue = true;
  }

  repaint(): void {
    this.painter.recolour?.();
    this.repaintGround();
  }

  hit(at: Point, near: number): Hit | null {
    return this.painter.hit(at, this.view, near, performance.now());
  }

  private readonly loop = (nowMs: number): void => {
    this.turn = requestAnimationFrame(this.loop);
    if (!this.isDue || !this.isSeen || this.size.width === 0) return;
    this.isDue = false;
    if (this.groundIsOld) this.drawGround(nowMs);
    const pen = this.pen;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.drawImage(this.groundCanvas, 0, 0);
    pen.setTransform(this.dense, 0, 0, this.dense, 0, 0);
    if (this.painter.moving(this.drawing(pen, nowMs))) this.isDue = true;
    this.count(nowMs);
  };

  private drawGround(nowMs: number): void {
    this.groundIsOld = false;
    const pen = this.groundCanvas.getContext("2d");
    if (pen === null) return;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.groundCanvas.width, this.groundCanvas.height);
    pen.setTransform(this.dense, 0, 0, this.dense, 0, 0);
    this.painter.ground(this.drawing(pen, nowMs));
  }

  private drawing(pen: CanvasRenderingContext2D, nowMs: number): Drawing {
    const { view, size, dense } = this;
    return { pen, view, size, dense, nowMs, calm: this.calm.matches };
  }

  /** Pictures drawn in the last second, for whoever measures. */
  private count(nowMs: number): void {
    this.drawn += 1;
    const passed = nowMs - this.countedAt;
    if (passed < 1_000) return;
    this.canvas.dataset.fps = String(Math.round((this.drawn * 1_000) / passed));
    this.drawn = 0;
    this.countedAt = nowMs;
  }
}
