/** What the doctor finds, and what to do about it. */
import { get } from "@/api/client";
import { useFetched } from "@/live/hooks";
import { State } from "@/parts/StateMark";
import { Loading, Refused } from "@/parts/Told";

const STATES: Record<string, { state: string; word: string }> = {
  ok: { state: "ok", word: "OK" },
  missing: { state: "skipped", word: "Not there" },
  broken: { state: "problem", word: "Broken" },
};

export function Doctor() {
  const { value, refusal, again } = useFetched("doctor", (signal) => get("/api/v1/doctor", { signal }));
  if (refusal) return <Refused refusal={refusal} />;
  if (value === undefined) return <Loading what="what the doctor finds" />;
  return (
    <section className="stack" aria-label="Doctor">
      <p className="row">
        <State
          state={value.ok ? "ok" : "problem"}
          word={value.ok ? "Everything that is needed is well" : "Something is broken"}
        />
        <button type="button" className="button small" onClick={again}>
          Look again
        </button>
      </p>
      <ul className="card setup-list">
        {value.checks.map((finding) => {
          const { state, word } = STATES[finding.state] ?? { state: finding.state, word: finding.state };
          return (
            <li key={finding.check} data-step tabIndex={-1}>
              <State state={state} word={word} />
              <div>
                <strong>{finding.check}</strong>
                <p>{finding.says}</p>
                {finding.tryNext && <p className="soft">{finding.tryNext}</p>}
              </div>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
