/** The log cannot be written: since when, what still works, and what was done meanwhile and is not recorded yet. */
import { useEffect, useState } from "react";
import { onUnrecorded } from "@/api/unrecorded";
import { useLive } from "@/live/hooks";
import { Ago } from "@/parts/time";

const MOST = 5;

export function LogAwayLine() {
  const since = useLive((snapshot) => snapshot.standing.logAwaySince);
  const [done, setDone] = useState<string[]>([]);
  useEffect(() => onUnrecorded((said) => setDone((before) => [...new Set([...before, ...said])].slice(-MOST))), []);
  useEffect(() => {
    if (since === undefined) setDone([]);
  }, [since]);
  if (since === undefined) return null;
  return (
    <div className="lost-line" role="alert">
      The log cannot be written. This began <Ago at={new Date(since).toISOString()} />. Nothing that moves is accepted
      until it can be; hold, pause, cancel and stop work.
      {done.map((says) => (
        <div key={says} className="small">
          {says}
        </div>
      ))}
    </div>
  );
}
