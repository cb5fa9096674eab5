/**
 * A press that comes right after another one at the same place belongs to what was pressed first.
 *
 * A hurried finger taps twice. Where the first tap took a card away, opened a dialog or turned *Hold* into *Release*, the
 * second one would hit something its owner has not read yet: it is dropped. Pressing the same thing again, as for
 * counting up, stays as it is; so does the keyboard.
 */
const TWICE_MS = 500;
const NEAR_PX = 24;
const PRESSED = "button, a, summary, [role=option]";

interface Press {
  at: number;
  x: number;
  y: number;
  on: Element | null;
  said: string;
}

let last: Press | null = null;

export function isStray(before: Press | null, now: Press): boolean {
  if (before === null || now.on === null || now.at - before.at > TWICE_MS) return false;
  if (Math.hypot(now.x - before.x, now.y - before.y) > NEAR_PX) return false;
  return before.on !== null && (before.on !== now.on || before.said !== now.said);
}

function look(event: MouseEvent): void {
  // The keyboard has no count of presses; the pointer always has one.
  if (event.detail === 0 || !(event.target instanceof Element)) return;
  // A mouse presses twice when the browser counts two; a finger when it comes back at once.
  const isTwice = event.detail > 1 || (event instanceof PointerEvent && event.pointerType === "touch");
  const on = event.target.closest(PRESSED);
  const now = { at: event.timeStamp, x: event.clientX, y: event.clientY, on, said: on?.textContent ?? "" };
  if (isTwice && isStray(last, now)) {
    event.preventDefault();
    event.stopImmediatePropagation();
  } else {
    last = now;
  }
}

export function watchPresses(): void {
  window.addEventListener("click", look, { capture: true });
}
