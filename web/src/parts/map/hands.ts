/** What hands do on a map: drag, pinch, turn the wheel, press keys, point and pick. */
import type { MapStage } from "./stage";
import type { Point } from "./view";

const DRAG_PX = 5;
const STEP_PX = 60;
const ZOOM = 1.3;

export class MapHands<Hit> {
  private readonly down = new Map<number, Point>();
  private start: Point | null = null;
  private isDragging = false;
  private readonly off = new AbortController();

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly stage: MapStage<Hit>,
    private readonly pick: (hit: Hit | null) => void,
  ) {
    const { signal } = this.off;
    canvas.addEventListener("pointerdown", this.press, { signal });
    canvas.addEventListener("pointermove", this.move, { signal });
    canvas.addEventListener("pointerup", this.lift, { signal });
    canvas.addEventListener("pointercancel", this.cancel, { signal });
    canvas.addEventListener("pointerleave", () => this.hover(null), { signal });
    canvas.addEventListener("wheel", this.wheel, { signal, passive: false });
    canvas.addEventListener("keydown", this.key, { signal });
  }

  stop(): void {
    this.off.abort();
  }

  private at(event: { clientX: number; clientY: number }): Point {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private readonly press = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.down.set(event.pointerId, this.at(event));
    this.start = this.down.size === 1 ? this.at(event) : null;
    this.isDragging = false;
  };

  private readonly move = (event: PointerEvent): void => {
    const at = this.at(event);
    const before = this.down.get(event.pointerId);
    if (before === undefined) {
      this.hover(this.stage.hit(at, reachOf(event)));
      return;
    }
    const others = [...this.down].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
    this.down.set(event.pointerId, at);
    const other = others[0];
    if (other) this.pinch(before, at, other);
    else this.drag(before, at);
  };

  private drag(before: Point, at: Point): void {
    if (!this.isDragging && this.start && Math.hypot(at.x - this.start.x, at.y - this.start.y) < DRAG_PX) return;
    this.isDragging = true;
    this.canvas.classList.add("dragged");
    this.stage.pan(at.x - before.x, at.y - before.y);
  }

  private pinch(before: Point, at: Point, other: Point): void {
    this.isDragging = true;
    const [was, is] = [Math.hypot(before.x - other.x, before.y - other.y), Math.hypot(at.x - other.x, at.y - other.y)];
    const middle = { x: (at.x + other.x) / 2, y: (at.y + other.y) / 2 };
    this.stage.pan((at.x - before.x) / 2, (at.y - before.y) / 2);
    if (was > 1) this.stage.zoomAt(middle, is / was);
  }

  private readonly lift = (event: PointerEvent): void => {
    const was = this.down.delete(event.pointerId);
    this.canvas.classList.remove("dragged");
    if (!was || this.isDragging || this.start === null) return;
    this.pick(this.stage.hit(this.at(event), reachOf(event)));
  };

  private readonly cancel = (event: PointerEvent): void => {
    this.down.delete(event.pointerId);
    this.canvas.classList.remove("dragged");
    this.isDragging = true;
  };

  private hover(hit: Hit | null): void {
    this.canvas.classList.toggle("over", hit !== null);
    if (this.stage.painter.hover?.(hit)) this.stage.repaintGround();
  }

  private readonly wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    this.stage.zoomAt(this.at(event), Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0015)));
  };

  private readonly key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const does: Record<string, () => void> = {
      ArrowLeft: () => this.stage.pan(STEP_PX, 0),
      ArrowRight: () => this.stage.pan(-STEP_PX, 0),
      ArrowUp: () => this.stage.pan(0, STEP_PX),
      ArrowDown: () => this.stage.pan(0, -STEP_PX),
      "+": () => this.stage.zoomBy(ZOOM),
      "=": () => this.stage.zoomBy(ZOOM),
      "-": () => this.stage.zoomBy(1 / ZOOM),
      "0": () => this.stage.fit(),
    };
    const act = does[event.key];
    if (act === undefined) return;
    act();
    event.preventDefault();
  };
}

/** A finger is less sharp than a pointer. */
function reachOf(event: PointerEvent): number {
  return event.pointerType === "touch" ? 24 : 16;
}
