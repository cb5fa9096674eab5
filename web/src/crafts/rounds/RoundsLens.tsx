/**
 * The rounds of a question: a column a round, sub-goals as cards, what one takes from another as wires by slot. The
 * wires only repeat what each card says of its inputs.
 */
import { useRef } from "react";
import { State } from "@/parts/StateMark";
import { type SubGoal, stateOfSubGoal } from "./results";
import { useWires } from "./wires";
import "./rounds.css";

interface Props {
  subGoals: readonly SubGoal[];
  /** The round that goes on, or the last one. */
  round: number;
  /** What the planner said when it decided a round, by the round's number. */
  reasons?: Readonly<Record<number, string>>;
}

interface Ref {
  from_sub_goal: number;
  slot: string;
}

export function inputsOf(one: SubGoal): [string, Ref][] {
  return Object.entries(one.inputs as Record<string, Ref>);
}

export function RoundsLens({ subGoals, round, reasons = {} }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const wires = useWires(box, subGoals);
  const last = Math.max(round, ...subGoals.map((one) => one.round), 1);
  const numbers = Array.from({ length: last }, (_, index) => index + 1);
  const given = [
    ...new Set(
      subGoals.flatMap((one) => inputsOf(one).flatMap(([, ref]) => (ref.from_sub_goal === 0 ? ref.slot : []))),
    ),
  ];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard
    <section className="rounds" aria-label="Rounds" tabIndex={0}>
      <div className="rounds-inside" ref={box}>
        <svg className="rounds-wires" aria-hidden="true" width={wires.width} height={wires.height}>
          {wires.paths.map((wire) => (
            <path key={wire.key} d={wire.d} className={wire.isLive ? "live" : ""}>
              <title>{wire.slot}</title>
            </path>
          ))}
        </svg>
        <ol className="rounds-columns">
          {given.length > 0 && (
            <li className="rounds-column">
              <h3>Context</h3>
              <div className="rounds-card" data-sub-goal={0}>
                {given.map((slot) => (
                  <p key={slot}>
                    <code>{slot}</code>
                  </p>
                ))}
              </div>
            </li>
          )}
          {numbers.map((number) => (
            <li className="rounds-column" key={number}>
              <h3>Round {number}</h3>
              {reasons[number] && <p className="soft small rounds-reason">{reasons[number]}</p>}
              <ul>
                {subGoals
                  .filter((one) => one.round === number)
                  .map((one) => (
                    <Card key={one.id} one={one} all={subGoals} />
                  ))}
              </ul>
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}

function Card({ one, all }: { one: SubGoal; all: readonly SubGoal[] }) {
  const worker = (id: number) => (id === 0 ? "context" : (all.find((other) => other.id === id)?.worker ?? ""));
  return (
    <li
      className="rounds-card"
      data-sub-goal={one.id}
      data-step
      tabIndex={-1}
      aria-label={`Sub-goal ${one.id}, ${one.worker}`}
    >
      <p className="row rounds-head">
        <span className="rounds-number">{one.id}</span>
        <code className="rounds-worker" title={one.worker}>
          {one.worker}
        </code>
        <State {...stateOfSubGoal(one)} />
      </p>
      {one.description && <p className="soft small">{one.description}</p>}
      {inputsOf(one).map(([name, ref]) => (
        <p className="small rounds-input" key={name} data-input={name}>
          <code>{name}</code>{" "}
          <span className="soft">
            from {ref.from_sub_goal === 0 ? "the context" : `${ref.from_sub_goal} ${worker(ref.from_sub_goal)}`}
            {ref.slot !== name && ` (${ref.slot})`}
          </span>
        </p>
      ))}
      {one.error && <p className="small tone-bad">{one.error}</p>}
      {one.outputs && Object.keys(one.outputs).length > 0 && (
        <details className="rounds-gave">
          <summary className="small">Gave {Object.keys(one.outputs).join(", ")}</summary>
          <pre>{shortened(JSON.stringify(one.outputs, null, 1))}</pre>
        </details>
      )}
    </li>
  );
}

const MOST = 8_000;

function shortened(text: string): string {
  return text.length > MOST
    ? `${text.slice(0, MOST)}\n… ${(text.length - MOST).toLocaleString()} more characters`
    : text;
}
