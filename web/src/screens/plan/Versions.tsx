/** Every version and what changed between any two; a plan against one of its runs too. */
import { get } from "@/api/client";
import { goWith, useQuery } from "@/frame/router";
import { useFetched } from "@/live/hooks";
import { Loading, Refused } from "@/parts/Told";
import { Time } from "@/parts/time";
import { AgainstRun } from "./AgainstRun";
import { type Change, Changes } from "./Changes";
import type { PlanDoc, Reading } from "./usePlan";

export function Versions({ plan, reading }: { plan: PlanDoc; reading: Reading }) {
  const versions = useFetched(`versions ${plan.id} ${reading.latest}`, (signal) =>
    get("/api/v1/plans/{plan_id}/versions", { path: { plan_id: plan.id }, signal }),
  );
  const [from] = useQuery("from");
  const [to] = useQuery("to");
  const [run] = useQuery("run");
  const all = versions.value ?? [];
  const older = from ?? String(Math.max(1, plan.version - 1));
  const newer = to ?? String(plan.version);
  const runs = reading.review?.runs ?? [];
  return (
    <div className="stack">
      {versions.refusal && <Refused refusal={versions.refusal} />}
      <div className="row plan-compare">
        <Pick
          label="From"
          name="from"
          value={older}
          options={all.map((one) => [String(one.version), `Version ${one.version}`])}
        />
        <Pick
          label="To"
          name="to"
          value={run ? `run ${run}` : newer}
          options={[
            ...all.map((one): [string, string] => [String(one.version), `Version ${one.version}`]),
            ...runs.map((one): [string, string] => [`run ${one.runId}`, `Run ${one.runId} (version ${one.version})`]),
          ]}
        />
      </div>
      {run ? (
        <AgainstRun planId={plan.id} version={Number(older)} runId={run} />
      ) : (
        <Difference planId={plan.id} from={Number(older)} to={Number(newer)} />
      )}
      <h2>All versions</h2>
      <ol className="plan-versions" reversed>
        {[...all].reverse().map((one) => (
          <li key={one.version} className="card padded row">
            <span className="spread">
              <strong>Version {one.version}</strong>{" "}
              <span className="soft small">
                <Time at={one.createdAt} /> · {one.stepCount} steps · {one.changes.length} changes
              </span>
            </span>
            {one.version === plan.version ? (
              <span className="soft small">You read this one</span>
            ) : (
              <button type="button" className="button small" onClick={() => reading.read(one.version)}>
                Read version {one.version}
              </button>
            )}
          </li>
        ))}
      </ol>
    </div>
  );
}

function Pick({
  label,
  name,
  value,
  options,
}: {
  label: string;
  name: string;
  value: string;
  options: [string, string][];
}) {
  const pick = (next: string) => {
    if (next.startsWith("run ")) goWith({ run: next.slice(4) });
    else goWith(name === "to" ? { to: next, run: null } : { from: next });
  };
  return (
    <div className="field">
      <label htmlFor={`versions-${name}`}>{label}</label>
      <select id={`versions-${name}`} className="select" value={value} onChange={(event) => pick(event.target.value)}>
        {options.map(([key, word]) => (
          <option key={key} value={key}>
            {word}
          </option>
        ))}
      </select>
    </div>
  );
}

function Difference({ planId, from, to }: { planId: string; from: number; to: number }) {
  const { value, refusal } = useFetched(`difference ${planId} ${from} ${to}`, (signal) =>
    get("/api/v1/plans/{plan_id}/difference", { path: { plan_id: planId }, query: { from, to }, signal }),
  );
  if (refusal) return <Refused refusal={refusal} />;
  if (!value) return <Loading what="what changed" />;
  return <Changes changes={value.changes as unknown as Change[]} />;
}
