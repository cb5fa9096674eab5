/** The log itself, the newest first: each event as the server says it, with a way into the replay at its number. */
import { goWith, Link, useQuery } from "@/frame/router";
import { useFetched } from "@/live/hooks";
import type { LogEvent } from "@/live/protocol";
import { About } from "@/parts/Ids";
import { Empty, Loading, Refused } from "@/parts/Told";
import { Time } from "@/parts/time";
import { Export } from "./Export";
import { csvOfEvents } from "./files";
import type { Filter } from "./filter";
import { readPage } from "./log";

const PAGE = 100;
const SAVED_AT_MOST = 10_000;

export function EventsPast({ filter }: { filter: Filter }) {
  const [given] = useQuery("before");
  const before = given && /^\d+$/.test(given) ? Number(given) : null;
  const read = useFetched(`events ${JSON.stringify({ ...filter, before })}`, (signal) =>
    readPage({ ...filter, before }, PAGE, signal),
  );
  const page = read.value;
  return (
    <>
      <div className="row history-told">
        <p className="soft spread" role="status">
          {page && `Shown: ${page.events.length}${filter.text ? `, of ${page.looked} looked through` : ""}`}
        </p>
        {before === null && (
          <button type="button" className="button small" onClick={read.again}>
            Read again
          </button>
        )}
        <Export
          name="events"
          most={SAVED_AT_MOST}
          make={async (signal) => (await readPage({ ...filter, before: null }, SAVED_AT_MOST, signal)).events}
          csv={csvOfEvents}
          json={(events: readonly LogEvent[]) => events}
        />
      </div>
      {read.refusal && <Refused refusal={read.refusal} />}
      {!page && !read.refusal && <Loading what="the log" />}
      {page && page.events.length > 0 && (
        <ol className="card history-events">
          {page.events.map((event) => (
            <EventLine key={event.seq} event={event} />
          ))}
        </ol>
      )}
      {page && page.events.length === 0 && (
        <Empty title={page.next ? "None of these events pass the filters." : "No event passes these filters."}>
          <Link to="/history?what=events" className="button">
            No filters
          </Link>
        </Empty>
      )}
      <nav className="row history-pages" aria-label="Pages">
        {before !== null && (
          <button type="button" className="button" onClick={() => goWith({ before: null }, { replace: false })}>
            Newest
          </button>
        )}
        {page?.next && (
          <button
            type="button"
            className="button"
            onClick={() => goWith({ before: String(page.next) }, { replace: false })}
          >
            Older
          </button>
        )}
      </nav>
    </>
  );
}

function EventLine({ event }: { event: LogEvent }) {
  return (
    <li className="history-event">
      <span className="soft small">
        <Time at={event.ts} />
      </span>
      <div>
        <p>{event.says}</p>
        <div className="row small">
          <span className="soft mono">{event.kind}</span>
          <About about={{ scene: event.scene, ...event.about }} />
        </div>
      </div>
      <Link to={`/history/replay?at=${event.seq}`} className="small" data-step title={`Replay at event ${event.seq}`}>
        {event.seq}
      </Link>
    </li>
  );
}
