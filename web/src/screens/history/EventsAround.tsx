/** The events before and after the scrubber, each as the server says it; a press goes there. */
import type { LogEvent } from "@/live/protocol";
import { About } from "@/parts/Ids";
import { Time } from "@/parts/time";
import { useAround } from "./track";

interface Props {
  events: readonly LogEvent[];
  at: number;
  onPick: (seq: number) => void;
}

export function EventsAround({ events, at, onPick }: Props) {
  const around = useAround(events, at);
  return (
    <section className="stack" aria-labelledby="replay-events">
      <h2 id="replay-events">Events</h2>
      <ol className="card replay-events">
        {around.map((event) => (
          <li
            key={event.seq}
            className={event.seq > at ? "later" : undefined}
            aria-current={event.seq === at || undefined}
          >
            <button type="button" data-step onClick={() => onPick(event.seq)} title={`Go to event ${event.seq}`}>
              <span className="soft small mono">{event.seq}</span>
              <span>{event.says}</span>
              <span className="soft small">
                <Time at={event.ts} />
              </span>
            </button>
            {event.seq === at && (
              <div className="row small replay-about">
                <span className="mono soft">{event.kind}</span>
                <About about={{ scene: event.scene, ...event.about }} />
              </div>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
