/** The home from above at any moment of the session, with a scrubber; at its end it follows what happens. */
import { useEffect, useState } from "react";
import { goWith, useQuery } from "@/frame/router";
import { duration } from "@/parts/time";
import { type Session, TICKS_PER_S } from "./session";

export function useMoment(session: Session): { tick: number; live: boolean; go: (tick: number) => void } {
  const [at] = useQuery("tick");
  const asked = at === null ? Number.NaN : Number(at);
  const live = !Number.isFinite(asked) || asked >= session.tick;
  const tick = live ? session.tick : Math.max(0, Math.round(asked));
  const go = (next: number) => goWith({ tick: next >= session.tick ? null : String(Math.max(0, next)) });
  return { tick, live, go };
}

export function Scrubber({ session }: { session: Session }) {
  const { tick, live, go } = useMoment(session);
  const [playing, setPlaying] = useState(false);
  useEffect(() => {
    if (!playing) return;
    if (live) {
      setPlaying(false);
      return;
    }
    const timer = setTimeout(() => go(tick + TICKS_PER_S / 2), 250);
    return () => clearTimeout(timer);
  });
  const start = () => {
    if (live) go(0);
    setPlaying(true);
  };
  const address = `/api/v1/sessions/${encodeURIComponent(session.sessionId)}/picture?tick=${tick}`;
  return (
    <figure className="card agent-picture">
      <img
        src={address}
        width={512}
        height={512}
        alt={`The home from above after ${duration(tick / TICKS_PER_S)}; the state beside it says the same in words`}
      />
      <figcaption className="row">
        <button
          type="button"
          className="button small"
          onClick={() => (playing ? setPlaying(false) : start())}
          disabled={session.tick === 0}
        >
          {playing ? "Pause" : "Play"}
        </button>
        <input
          type="range"
          className="spread"
          aria-label="Moment of the session"
          aria-valuetext={duration(tick / TICKS_PER_S)}
          min={0}
          max={Math.max(session.tick, 1)}
          value={tick}
          onChange={(event) => go(Number(event.target.value))}
        />
        <span className="mono small nowrap">{duration(tick / TICKS_PER_S)}</span>
        {!live && (
          <button type="button" className="button small" onClick={() => go(session.tick)}>
            Now
          </button>
        )}
      </figcaption>
    </figure>
  );
}
