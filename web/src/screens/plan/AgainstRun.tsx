/** A version against a run: what was planned beside what was done. */
import { get } from "@/api/client";
import { useFetched } from "@/live/hooks";
import { Id } from "@/parts/Ids";
import { State } from "@/parts/StateMark";
import { callInShort, type Step, span } from "@/parts/steps/steps";
import { Loading, Refused } from "@/parts/Told";

export function AgainstRun({ planId, version, runId }: { planId: string; version: number; runId: string }) {
  const plan = useFetched(`${planId} ${version}`, (signal) =>
    get("/api/v1/plans/{plan_id}", { path: { plan_id: planId }, query: { version }, signal }),
  );
  const run = useFetched(
    runId,
    (signal) => get("/api/v1/runs/{run_id}", { path: { run_id: runId }, signal }),
    (event) => event.about.runId === runId,
  );
  const refusal = plan.refusal ?? run.refusal;
  if (refusal) return <Refused refusal={refusal} />;
  if (!plan.value || !run.value) return <Loading what="the run" />;
  const done = new Map(run.value.steps.map((step) => [step.id, step]));
  const planned = new Set(plan.value.steps.map((step) => step.id));
  const extra = run.value.steps.filter((step) => !planned.has(step.id));
  return (
    <div className="stack">
      <p>
        Version {version} against <Id field="runId" id={runId} /> <State state={run.value.status} />
      </p>
      <div className="scroll-x card">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Step</th>
              <th scope="col">Planned</th>
              <th scope="col">Done</th>
              <th scope="col">State</th>
              <th scope="col">Took</th>
            </tr>
          </thead>
          <tbody>
            {plan.value.steps.map((step) => (
              <Line key={step.id} id={step.id} planned={step} done={done.get(step.id)} />
            ))}
            {extra.map((step) => (
              <Line key={step.id} id={step.id} done={step} />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function Line({ id, planned, done }: { id: string; planned?: Step; done?: Step }) {
  const call = planned && callInShort(planned, "scene");
  const did = done && callInShort(done, "scene");
  return (
    <tr>
      <td>
        <code>{id}</code>
      </td>
      <td>{call ? <code className="small">{call}</code> : <span className="soft">not in this version</span>}</td>
      <td>
        {did === undefined ? (
          <span className="soft">not in the run</span>
        ) : did === call ? (
          <span className="soft">as planned</span>
        ) : (
          <code className="small">{did}</code>
        )}
      </td>
      <td>{done && <State state={done.status} />}</td>
      <td className="nowrap">{done?.result && span(done.result.duration / 1_000)}</td>
    </tr>
  );
}
