/** A session: the body from above at any moment, its actions as lanes, every command, and the four commands by hand. */
import { get } from "@/api/client";
import { Link } from "@/frame/router";
import { useFetched } from "@/live/hooks";
import { State } from "@/parts/StateMark";
import { Loading, Refused } from "@/parts/Told";
import { Ago } from "@/parts/time";
import { Lanes } from "./Lanes";
import { Scrubber, useMoment } from "./Scrubber";
import { Steering } from "./Steering";
import { concerns, type LoggedCommand, type Session as SessionData, STEERED, TICKS_PER_S } from "./session";
import "./agent.css";

export default function Session({ named }: { named: Record<string, string> }) {
  const id = named.id ?? "";
  const read = useFetched(
    `session/${id}`,
    (signal) => get("/api/v1/sessions/{session_id}", { path: { session_id: id }, signal }),
    concerns(id),
  );
  if (read.value === undefined)
    return read.refusal ? <Refused refusal={read.refusal} /> : <Loading what="the session" />;
  return <Shown session={read.value} />;
}

function Shown({ session }: { session: SessionData }) {
  const id = session.sessionId;
  const { tick, live } = useMoment(session);
  const lanes = useFetched(
    `lanes/${id}`,
    (signal) => get("/api/v1/sessions/{session_id}/lanes", { path: { session_id: id }, signal }),
    concerns(id),
  );
  const past = useFetched(live ? null : `session/${id}@${tick}`, (signal) =>
    get("/api/v1/sessions/{session_id}", { path: { session_id: id }, query: { tick }, signal }),
  );
  const shown = live ? session : (past.value ?? session);
  return (
    <>
      <header className="page-head">
        <h1>{session.goal ?? `Session in ${session.scene}`}</h1>
        <State state={session.status} />
        <Goal reached={session.goalReached} goal={session.goal} />
        <span className="soft">
          Steered by {STEERED[session.steeredBy] ?? session.steeredBy}
          {session.model ? ` (${session.model})` : ""} · {session.clock} time ·{" "}
          <Link to={`/scenes/${session.scene}`}>{session.scene}</Link> · begun <Ago at={session.startedAt} />
        </span>
      </header>
      {session.reason && <p className="told bad">{session.reason}</p>}
      {session.heldBy && <p className="soft">The body is held by {session.heldBy}.</p>}
      {session.note && <p className="told">{session.note}</p>}
      {session.held && <p className="told wait">The body is held by a person.</p>}
      <div className="agent">
        <Scrubber session={session} />
        <div className="stack">
          <pre className="card padded agent-state">{shown.state}</pre>
          <Steering session={session} />
        </div>
      </div>
      <section className="stack agent-part" aria-labelledby="lanes">
        <h2 id="lanes">Actions</h2>
        <div className="card padded">
          <Lanes lanes={lanes.value ?? []} untilS={session.atS} atS={tick / TICKS_PER_S} />
        </div>
      </section>
      <Commands id={id} steps={session.steps} />
    </>
  );
}

function Goal({ reached, goal }: { reached: boolean | null; goal?: string | null }) {
  if (!goal || reached === null) return null;
  return <State state={reached ? "done" : "pending"} word={reached ? "Goal reached" : "Goal not reached"} />;
}

function Commands({ id, steps }: { id: string; steps: number }) {
  const log = useFetched(
    `commands/${id}`,
    (signal) => get("/api/v1/sessions/{session_id}/commands", { path: { session_id: id }, signal }),
    concerns(id),
  );
  return (
    <section className="stack agent-part" aria-labelledby="commands">
      <h2 id="commands">
        Commands <span className="soft agent-count">{steps}</span>
      </h2>
      <ol className="card agent-commands">
        {(log.value ?? []).map((command, index) => (
          <Command key={index} command={command} />
        ))}
        {log.value?.length === 0 && <li className="soft">No command has been given. Start an action above.</li>}
      </ol>
    </section>
  );
}

function Command({ command }: { command: LoggedCommand }) {
  return (
    <li data-step tabIndex={-1}>
      <span className="mono small soft nowrap">{command.atS.toFixed(1)} s</span>
      <State state={command.refused ? "failed" : "done"} word={command.refused ? "Refused" : "Taken"} />
      <code>{command.command}</code>
      <span>{command.reply}</span>
      <span className="soft small">{command.saidBy}</span>
    </li>
  );
}
