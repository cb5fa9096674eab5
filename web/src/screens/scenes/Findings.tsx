/** What is wrong with the text, and apart from it what is merely odd; each leads to its line. */
import type { Schemas } from "@/api/client";
import { Mark, State } from "@/parts/StateMark";
import { Refused } from "@/parts/Told";
import type { Check } from "./check";
import { lineOf } from "./lines";

type Problem = Schemas["ProblemShape"];

export function Findings({ check, text, goTo }: { check: Check; text: string; goTo: (line: number) => void }) {
  const waiting = check.text !== text && text.trim() !== "";
  const { found } = check;
  return (
    <section className="scenes-findings stack" aria-label="What the check found">
      <p role="status" className="row">
        {waiting && <span className="soft">Checking …</span>}
        {!waiting && found?.ok && <State state="ok" word="It can be saved" />}
        {!waiting && found && !found.ok && (
          <State
            state="problem"
            word={found.problems.length === 1 ? "One problem" : `${found.problems.length} problems`}
          />
        )}
        {!waiting && found && found.warnings.length > 0 && (
          <State
            state="warning"
            word={found.warnings.length === 1 ? "One warning" : `${found.warnings.length} warnings`}
          />
        )}
      </p>
      {check.refusal && <Refused refusal={check.refusal} />}
      {found?.summary && (
        <p className="row small">
          {Object.entries(found.summary).map(([name, count]) => (
            <span key={name} className="chip">
              {name}: {count}
            </span>
          ))}
        </p>
      )}
      <List title="Problems" mark="problem" problems={found?.problems ?? []} text={text} goTo={goTo} />
      <List title="Warnings" mark="warning" problems={found?.warnings ?? []} text={text} goTo={goTo} />
    </section>
  );
}

interface ListProps {
  title: string;
  mark: string;
  problems: readonly Problem[];
  text: string;
  goTo: (line: number) => void;
}

function List({ title, mark, problems, text, goTo }: ListProps) {
  if (problems.length === 0) return null;
  return (
    <div className="stack">
      <h3>{title}</h3>
      <ul className="stack">
        {problems.map((problem, index) => (
          <Line key={index} problem={problem} mark={mark} line={lineOf(text, problem)} goTo={goTo} />
        ))}
      </ul>
    </div>
  );
}

interface LineProps {
  problem: Problem;
  mark: string;
  line: number | null;
  goTo: (line: number) => void;
}

function Line({ problem, mark, line, goTo }: LineProps) {
  return (
    <li className="scenes-finding">
      <Mark state={mark} />
      <div>
        {line !== null && (
          <button type="button" className="scenes-jump" data-step onClick={() => goTo(line)}>
            Line {line + 1}
            {problem.path && <code> {problem.path}</code>}
          </button>
        )}
        <p>{problem.says}</p>
        {problem.tryNext && <p className="soft small">{problem.tryNext}</p>}
      </div>
    </li>
  );
}
