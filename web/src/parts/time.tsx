/** Times in the reader's own zone, with the exact one on hover; ages and durations in short words. */
import { serverNow } from "@/api/clock";
import { useTick } from "@/live/hooks";

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

export type Instant = string | number;

export function Time({ at }: { at: Instant }) {
  const date = new Date(at);
  const today = new Date().toDateString() === date.toDateString();
  return (
    <time dateTime={date.toISOString()} title={date.toISOString()} className="nowrap">
      {(today ? CLOCK : DAY).format(date)}
    </time>
  );
}

export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

/** The time since something, counted on by the server's clock. */
function Passed({ since, says }: { since: Instant; says: (lasted: string, seconds: number) => string }) {
  useTick(1_000);
  const date = new Date(since);
  const seconds = Math.max(0, (serverNow() - date.getTime()) / 1_000);
  return (
    <time dateTime={date.toISOString()} title={date.toISOString()} className="nowrap">
      {says(duration(Math.floor(seconds)).replace(".0", ""), seconds)}
    </time>
  );
}

/** How long something has lasted by now. */
export function For({ since }: { since: Instant }) {
  return <Passed since={since} says={(lasted) => lasted} />;
}

/** How long ago something was. */
export function Ago({ at }: { at: Instant }) {
  return <Passed since={at} says={(lasted, seconds) => (seconds < 2 ? "just now" : `${lasted} ago`)} />;
}
