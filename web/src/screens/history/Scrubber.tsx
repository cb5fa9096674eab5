/** The scrubber: a slider over the events, play and pause with a speed, single steps, a time to go to; and its keys. */
import { useEffect, useRef, useState } from "react";
import { asRefusal, type Refusal } from "@/api/client";
import { Icon } from "@/frame/Icon";
import { Refused } from "@/parts/Told";
import { Time } from "@/parts/time";
import { seqAt } from "./log";
import type { Track } from "./track";

interface Props {
  track: Track;
  at: number;
  onMove: (seq: number) => void;
  /** When the event at hand happened. */
  ts: string | undefined;
  last: number;
}

const SPEEDS = [1, 5, 20, 100];
const FRAME_MS = 100;
const TYPING = "input:not([type=range]), textarea, select, [contenteditable=true]";

export function Scrubber({ track, at, onMove, ts, last }: Props) {
  const index = track.indexOf(at);
  const [speed, setSpeed] = useState(5);
  const [playing, setPlaying] = usePlaying(track, index, speed, onMove);
  const go = (to: number) => {
    setPlaying(false);
    onMove(track.seqOf(to));
  };
  const atEnd = index >= track.count - 1;
  const toggle = () => {
    if (!playing && atEnd) onMove(track.seqOf(0));
    setPlaying(!playing);
  };
  useReplayKeys({ toggle, go, index, end: track.count - 1 });
  return (
    <section className="card padded stack replay-scrubber" aria-label="Scrubber">
      <div className="row">
        <button type="button" className="button" onClick={() => go(0)} aria-disabled={index === 0}>
          First
        </button>
        <button type="button" className="button" onClick={() => go(index - 1)} aria-disabled={index === 0}>
          Back
        </button>
        <button type="button" className="button first replay-play" onClick={toggle} aria-keyshortcuts="Space">
          <Icon name={playing ? "hold" : "play"} size={14} /> {playing ? "Pause" : "Play"}
        </button>
        <button type="button" className="button" onClick={() => go(index + 1)} aria-disabled={atEnd}>
          Forward
        </button>
        <button type="button" className="button" onClick={() => go(track.count - 1)} aria-disabled={atEnd}>
          Last
        </button>
        <label className="row small">
          Speed
          <select
            className="select replay-speed"
            value={speed}
            onChange={(event) => setSpeed(Number(event.target.value))}
          >
            {SPEEDS.map((one) => (
              <option key={one} value={one}>
                {one} a second
              </option>
            ))}
          </select>
        </label>
        <span className="spread" />
        <GoToTime last={last} onMove={(seq) => go(track.indexOf(seq))} />
      </div>
      <input
        type="range"
        className="replay-range"
        aria-label="Event"
        aria-valuetext={`Event ${at}${ts ? `, ${new Date(ts).toLocaleString()}` : ""}`}
        min={0}
        max={Math.max(track.count - 1, 0)}
        value={index}
        onChange={(event) => go(Number(event.target.value))}
      />
      <p className="row small">
        <strong>Event {at}</strong>
        {ts && <Time at={ts} />}
        <span className="soft spread">
          {index + 1} of {track.count}
        </span>
        <span className="soft replay-keys">
          <kbd>Space</kbd> play <kbd>←</kbd> <kbd>→</kbd> step <kbd>Home</kbd> <kbd>End</kbd>
        </span>
      </p>
    </section>
  );
}

function usePlaying(track: Track, index: number, speed: number, onMove: (seq: number) => void) {
  const [playing, setPlaying] = useState(false);
  const now = useRef(index);
  now.current = index;
  useEffect(() => {
    if (!playing) return;
    const every = Math.max(1_000 / speed, FRAME_MS);
    const by = Math.max(1, Math.round((speed * every) / 1_000));
    const timer = setInterval(() => {
      if (now.current >= track.count - 1) setPlaying(false);
      else onMove(track.seqOf(now.current + by));
    }, every);
    return () => clearInterval(timer);
  }, [playing, speed, track, onMove]);
  return [playing, setPlaying] as const;
}

interface Keys {
  toggle: () => void;
  go: (index: number) => void;
  index: number;
  end: number;
}

function useReplayKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const target = event.target instanceof Element ? event.target : null;
      const busy = target?.closest(TYPING) || document.querySelector("dialog[open]");
      if (busy || event.ctrlKey || event.metaKey || event.altKey) return;
      const { toggle, go, index, end } = latest.current;
      if (event.key === " " && !target?.closest("button, a, summary")) toggle();
      else if (target?.closest("input")) return;
      else if (event.key === "ArrowLeft") go(index - 1);
      else if (event.key === "ArrowRight") go(index + 1);
      else if (event.key === "Home") go(0);
      else if (event.key === "End") go(end);
      else return;
      event.preventDefault();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, []);
}

function GoToTime({ last, onMove }: { last: number; onMove: (seq: number) => void }) {
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const find = async (text: string) => {
    const time = new Date(text).getTime();
    if (Number.isNaN(time)) return;
    try {
      onMove(await seqAt(time, last));
      setRefusal(null);
    } catch (error) {
      setRefusal(asRefusal(error));
    }
  };
  return (
    <label className="row small">
      Go to
      <input
        className="input replay-time"
        type="datetime-local"
        step={1}
        onChange={(event) => void find(event.target.value)}
      />
      {refusal && <Refused refusal={refusal} />}
    </label>
  );
}
