/** Replay: a scrubber over the log; the state as it was after each event, and the events round it as sentences. */
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { goWith, Link, usePlace } from "@/frame/router";
import { useStore } from "@/live/hooks";
import type { LogEvent } from "@/live/protocol";
import { Id } from "@/parts/Ids";
import { Empty, Loading, Refused } from "@/parts/Told";
import { EventsAround } from "./EventsAround";
import { Scrubber } from "./Scrubber";
import { ThenView } from "./ThenView";
import { useThen } from "./then";
import { stops, stretch, type Track, useEventsNear, useRunEvents } from "./track";
import "./history.css";
import "./replay.css";

export default function Replay() {
  const { query } = usePlace();
  const run = query.get("run");
  return (
    <>
      <header className="page-head">
        <div className="spread stack history-title">
          <p className="small">
            <Link to="/history">History</Link>
          </p>
          <h1>Replay</h1>
          {run && (
            <p className="soft">
              The events of <Id field="runId" id={run} />.{" "}
              <Link to={`/history/replay${query.get("at") ? `?at=${query.get("at")}` : ""}`}>All events</Link>
            </p>
          )}
        </div>
        <Link to="/" className="button">
          To the present
        </Link>
      </header>
      {run ? <RunReplay run={run} /> : <LogReplay />}
    </>
  );
}

function LogReplay() {
  const { query } = usePlace();
  const store = useStore();
  const [last] = useState(() => store.current().seq);
  const from = whole(query.get("from")) ?? 1;
  const to = Math.min(whole(query.get("to")) ?? last, last);
  const track = useMemo(() => stretch(Math.min(from, to), to), [from, to]);
  if (last === 0) return <NothingYet />;
  return <Player track={track} begin={to} last={last} />;
}

function RunReplay({ run }: { run: string }) {
  const store = useStore();
  const read = useRunEvents(run);
  const track = useMemo(() => read.value && stops(read.value.events.map((event) => event.seq)), [read.value]);
  if (read.refusal) return <Refused refusal={read.refusal} />;
  if (!track || !read.value) return <Loading what="the run's events" />;
  if (track.count === 0) return <NothingYet />;
  return <Player track={track} begin={track.seqOf(0)} last={store.current().seq} {...read.value} />;
}

function NothingYet() {
  return (
    <Empty title="Nothing has happened yet.">
      <Link to="/new" className="button">
        Plan something
      </Link>
    </Empty>
  );
}

const whole = (text: string | null): number | null => (text && /^\d{1,15}$/.test(text) ? Number(text) : null);

interface PlayerProps {
  track: Track;
  /** Where it stands when the URL does not say. */
  begin: number;
  last: number;
  events?: readonly LogEvent[];
  /** The one scene that is looked at. */
  scene?: string | null;
}

function Player({ track, begin, last, events, scene }: PlayerProps) {
  const [at, setAt] = useAt(track, begin);
  const near = useEventsNear(events ? null : at);
  const shown = events ?? near;
  const { then, refusal } = useThen(at);
  const event = shown.find((one) => one.seq === at);
  return (
    <div className="stack replay">
      <Scrubber track={track} at={at} onMove={setAt} ts={event?.ts} last={last} />
      {refusal && <Refused refusal={refusal} />}
      <div className="replay-sides">
        {then ? (
          <ThenView then={then} ts={event?.ts} only={scene ?? null} />
        ) : (
          !refusal && <Loading what="the state as it was" />
        )}
        <EventsAround events={shown} at={at} onPick={setAt} />
      </div>
    </div>
  );
}

/** Where the scrubber stands. The URL follows a moment later; another URL moves it. */
function useAt(track: Track, begin: number): [number, (seq: number) => void] {
  const { query } = usePlace();
  const given = whole(query.get("at"));
  const [at, setAt] = useState(() => track.seqOf(track.indexOf(given ?? begin)));
  const written = useRef(given);
  useEffect(() => {
    if (given !== null && given !== written.current) {
      written.current = given;
      setAt(track.seqOf(track.indexOf(given)));
    }
  }, [given, track]);
  useEffect(() => {
    if (at === written.current) return;
    const timer = setTimeout(() => {
      written.current = at;
      goWith({ at: String(at) });
    }, 250);
    return () => clearTimeout(timer);
  }, [at]);
  const move = useCallback((seq: number) => setAt(track.seqOf(track.indexOf(seq))), [track]);
  return [at, move];
}
