/** The steps of a run as rows: state, words, call, how long each took. Rows out of sight cost nothing. */
import { memo } from "react";
import { State } from "@/parts/StateMark";
import { callInShort, goalOf, type Step, span } from "@/parts/steps/steps";

export function Steps({
  steps,
  chosen,
  onChoose,
}: {
  steps: readonly Step[];
  chosen: string | null;
  onChoose: (id: string) => void;
}) {
  return (
    <ol className="card run-steps" aria-label="Steps">
      {steps.map((step, index) => {
        const goal = goalOf(step);
        const before = steps[index - 1];
        const begins = goal !== null && (before === undefined || goalOf(before)?.key !== goal.key);
        return (
          <li key={step.id} className="run-item">
            {begins && <p className="run-goal small soft">{goal.says}</p>}
            <Row
              id={step.id}
              order={step.order}
              words={step.description || step.id}
              call={callInShort(step, "scene")}
              state={step.status}
              says={step.reason?.says ?? step.result?.error ?? ""}
              took={step.result ? span(step.result.duration / 1_000) : ""}
              attempt={step.attempt ?? 1}
              chosen={step.id === chosen}
              onChoose={onChoose}
            />
          </li>
        );
      })}
    </ol>
  );
}

const Row = memo(function Row(props: {
  id: string;
  order: number;
  words: string;
  call: string;
  state: string;
  says: string;
  took: string;
  attempt: number;
  chosen: boolean;
  onChoose: (id: string) => void;
}) {
  return (
    <button
      type="button"
      className={`run-row ${props.chosen ? "chosen" : ""}`}
      data-step={props.id}
      onClick={() => props.onChoose(props.id)}
    >
      <span className="run-order soft">{props.order}</span>
      <State state={props.state} />
      <span className="run-words">{props.words}</span>
      <code className="run-call soft">{props.call}</code>
      <span className="run-took soft small">
        {props.took}
        {props.attempt > 1 && ` · attempt ${props.attempt}`}
      </span>
      {props.says && <span className="run-says small">{props.says}</span>}
    </button>
  );
});
