/** Now: what needs you first, then what happens, then what is stuck. */
import { Suspense, useMemo } from "react";
import { CRAFTS } from "@/crafts";
import type { Going } from "@/crafts/craft";
import { Link } from "@/frame/router";
import { useList, useLive } from "@/live/hooks";
import { Mark, State } from "@/parts/StateMark";
import { useSteady } from "@/parts/steady";
import { Empty } from "@/parts/Told";
import { Ago, Time } from "@/parts/time";
import { DecisionCard, focusNextDecision } from "@/screens/inbox/DecisionCard";
import type { Decision } from "@/screens/inbox/kinds";
import { runsGoing } from "./runs";
import "./now.css";

const NEEDS_SHOWN = 8;
const GOING_SHOWN = 14;

export default function Now() {
  return (
    <>
      <h1 className="hidden-text">Now</h1>
      <div className="now">
        <NeedsYou />
        <div className="now-side">
          <StuckThings />
          <Happening />
          <LastEvents />
        </div>
      </div>
    </>
  );
}

function NeedsYou() {
  const decisions = useList<Decision>("decisions");
  const fresh = useMemo(
    () => [...decisions.values()].sort((one, other) => one.openedAt.localeCompare(other.openedAt)),
    [decisions],
  );
  const steady = useSteady(fresh, (decision) => decision.id);
  const shown = steady.items.slice(0, NEEDS_SHOWN);
  return (
    <section aria-labelledby="needs-you" className="now-needs" {...steady.watch}>
      <h2 id="needs-you">Needs you {decisions.size > 0 && <span className="count">{decisions.size}</span>}</h2>
      {steady.waiting > 0 && (
        <button type="button" className="button" onClick={steady.show}>
          Show new ones: {steady.waiting}
        </button>
      )}
      {shown.map((decision) => (
        <DecisionCard key={decision.id} decision={decision} onAnswered={() => focusNextDecision(decision.id)} />
      ))}
      {steady.items.length > shown.length && (
        <Link to="/inbox" className="button">
          All decisions: {steady.items.length}
        </Link>
      )}
      {steady.items.length === 0 && (
        <Empty title="Nothing waits for you.">
          <p>Say what you want, and see the plan before anything moves.</p>
          <Link to="/new" className="button first">
            Plan something
          </Link>
        </Empty>
      )}
    </section>
  );
}

function Happening() {
  const snapshot = useLive((current) => current);
  const all = useMemo(
    () => [...runsGoing(snapshot), ...CRAFTS.flatMap((craft) => craft.going?.(snapshot) ?? [])],
    [snapshot],
  );
  const steady = useSteady(all, (going) => going.key);
  return (
    <section aria-labelledby="happening" {...steady.watch}>
      <h2 id="happening">Happening {all.length > 0 && <span className="soft now-count">{all.length}</span>}</h2>
      <ul className="card now-list">
        {steady.items.slice(0, GOING_SHOWN).map((going) => (
          <GoingLine key={going.key} going={going} over={steady.gone.has(going.key)} />
        ))}
        {steady.items.length > GOING_SHOWN && (
          <li className="soft small now-line">And {steady.items.length - GOING_SHOWN} more.</li>
        )}
        {steady.items.length === 0 && <li className="soft now-line">Nothing runs at the moment.</li>}
      </ul>
    </section>
  );
}

function GoingLine({ going, over }: { going: Going; over: boolean }) {
  return (
    <li className={over ? "now-line over" : "now-line"}>
      <Link to={going.to} className="now-link" data-step>
        <Mark state={going.state} />
        <span>{going.says}</span>
        <span className="hidden-text">
          <State state={going.state} />
        </span>
      </Link>
      {going.since !== undefined && (
        <span className="soft small">
          <Ago at={going.since} />
        </span>
      )}
      {going.progress !== undefined && (
        <div
          className="progress"
          role="progressbar"
          aria-label="How far it is"
          aria-valuenow={Math.round(going.progress * 100)}
        >
          <span style={{ width: `${going.progress * 100}%` }} />
        </div>
      )}
    </li>
  );
}

function StuckThings() {
  const parts = CRAFTS.flatMap((craft) => (craft.stuck ? [{ name: craft.name, View: craft.stuck }] : []));
  return (
    <section aria-labelledby="stuck" className="now-stuck">
      <h2 id="stuck">Stuck</h2>
      <div className="card now-list now-stuck-list">
        <Suspense fallback={null}>
          {parts.map(({ name, View }) => (
            <View key={name} />
          ))}
        </Suspense>
        <p className="soft now-line now-nothing">Nothing is stuck.</p>
      </div>
    </section>
  );
}

function LastEvents() {
  const recent = useLive((snapshot) => snapshot.recent);
  const told = recent
    .filter((event) => event.says)
    .slice(-12)
    .reverse();
  const steady = useSteady(told, (event) => String(event.seq));
  return (
    <section aria-labelledby="events" {...steady.watch}>
      <h2 id="events">Last events</h2>
      <ol className="card now-list">
        {steady.items.map((event) => (
          <li key={event.seq} className="now-line now-event small">
            <span className="soft">
              <Time at={event.ts} />
            </span>
            <span>{event.says}</span>
          </li>
        ))}
        {told.length === 0 && <li className="soft now-line">Since you opened this page nothing has happened.</li>}
      </ol>
      <Link to="/history?what=events" className="small target">
        All events
      </Link>
    </section>
  );
}
