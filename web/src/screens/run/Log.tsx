/** Everything that happened in the run, the newest first, in the server's words. */
import { useQuery } from "@/frame/router";
import type { LogEvent } from "@/live/protocol";
import { Empty } from "@/parts/Told";
import { Time } from "@/parts/time";

export function Log({ log, onChoose }: { log: readonly LogEvent[]; onChoose: (id: string) => void }) {
  const [find, setFind] = useQuery("find");
  const wanted = (find ?? "").toLowerCase();
  const shown = log.filter((event) => (event.says ?? event.kind).toLowerCase().includes(wanted)).reverse();
  return (
    <div className="stack">
      <input
        className="input"
        type="search"
        data-search
        aria-label="Search in the log"
        placeholder="Search in the log"
        value={find ?? ""}
        onChange={(event) => setFind(event.target.value)}
      />
      {shown.length === 0 && <Empty title={wanted ? "Nothing in the log says that." : "Nothing has happened yet."} />}
      {shown.length > 0 && (
        <ol className="card run-log" aria-label="Log">
          {shown.map((event) => (
            <li key={event.seq} className="run-log-line">
              <span className="soft small">
                <Time at={event.ts} />
              </span>
              <span>{event.says ?? event.kind}</span>
              {event.about.stepId !== undefined && (
                <button type="button" className="run-link" onClick={() => onChoose(String(event.about.stepId))}>
                  {event.about.stepId}
                </button>
              )}
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
