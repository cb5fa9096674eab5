/** The server's clock as this browser knows it: deadlines are written in it, ages are counted from it. */
let offsetMs = 0;

/** Take the server's time in; what the way here cost only makes deadlines shorter. */
export function hearServerTime(nowMs: number): void {
  offsetMs = nowMs - Date.now();
}

export function serverNow(): number {
  return Date.now() + offsetMs;
}
