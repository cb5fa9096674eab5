/** A run at any moment of its life: what it does, what it asks, what became of each step, and the hand on it. */
import { lazy, Suspense, useCallback, useMemo } from "react";
import { get } from "@/api/client";
import { serverNow } from "@/api/clock";
import { craftOf } from "@/crafts";
import { goWith, Link, useQuery } from "@/frame/router";
import { useFetched, useTick } from "@/live/hooks";
import type { LogEvent } from "@/live/protocol";
import { Id } from "@/parts/Ids";
import { State } from "@/parts/StateMark";
import { span } from "@/parts/steps/steps";
import { Tabs } from "@/parts/steps/Tabs";
import { Timeline } from "@/parts/steps/Timeline";
import { Empty, Loading, ReasonLine, Refused } from "@/parts/Told";
import { Time } from "@/parts/time";
import { Commands, ENDED } from "./Commands";
import { Decisions } from "./Decisions";
import { Log } from "./Log";
import "./run.css";
import { StepDetails } from "./StepDetails";
import { Steps } from "./Steps";
import { Summary } from "./Summary";
import { spansOf } from "./spans";
import { type RunDoc, useLog, useRun } from "./useRun";

const Graph = lazy(() => import("@/parts/steps/Graph").then(({ Graph }) => ({ default: Graph })));

export default function RunScreen({ named }: { named: Record<string, string> }) {
  const { value, refusal } = useRun(named.id ?? "");
  if (value) return <Shown key={value.runId} run={value} />;
  if (refusal) {
    return (
      <>
        <h1>Run</h1>
        <Refused refusal={refusal} />
        <Empty title="There is no such run.">
          <Link className="button" to="/history">
            Look in the history
          </Link>
        </Empty>
      </>
    );
  }
  return <Loading what="the run" />;
}

const VIEWS: [string, string][] = [
  ["steps", "Steps"],
  ["graph", "Graph"],
  ["time", "Timeline"],
  ["log", "Log"],
];

function Shown({ run }: { run: RunDoc }) {
  const [view] = useQuery("view");
  const [chosen] = useQuery("step");
  const choose = useCallback((id: string | null) => goWith({ step: id }), []);
  const log = useLog(run.runId);
  const planned = usePlanned(run);
  const step = run.steps.find((one) => one.id === chosen);
  const shown = view ?? "steps";
  return (
    <div className="run">
      <Head run={run} />
      <Commands run={run} />
      {run.reason && (
        <div className="told wait" role="status">
          <ReasonLine reason={run.reason} />
        </div>
      )}
      <Decisions run={run} />
      <Summary run={run} />
      <div className="run-columns">
        <div className="stack run-left">
          <Tabs label="Views of the run" views={VIEWS} shown={shown} onPick={(next) => goWith({ view: next })} />
          {shown === "steps" && <Steps steps={run.steps} chosen={chosen} onChoose={choose} />}
          {shown === "graph" && (
            <Suspense fallback={<Loading what="the graph" />}>
              <Graph steps={run.steps} chosen={chosen} onChoose={choose} down />
            </Suspense>
          )}
          {shown === "time" && <OverTime run={run} log={log} chosen={chosen} onChoose={choose} />}
          {shown === "log" && <Log log={log} onChoose={choose} />}
        </div>
        <Beside run={run} log={log} chosen={chosen} onChoose={choose} withTime={shown !== "time"} />
      </div>
      {step && (
        <StepDetails run={run} step={step} planned={planned.get(step.id)} log={log} onClose={() => choose(null)} />
      )}
    </div>
  );
}

function Head({ run }: { run: RunDoc }) {
  useTick(run.finishedAt ? 60_000 : 1_000);
  const tookMs = run.durationMs ?? (run.finishedAt ? undefined : serverNow() - Date.parse(run.startedAt));
  return (
    <header className="run-head">
      <div className="row">
        <h1 className="spread">{run.name || run.runId}</h1>
        <State state={run.cancelling && !ENDED.has(run.status) ? "cancelled" : run.status} word={wordOf(run)} />
      </div>
      <p className="row soft small run-facts">
        <Id field="runId" id={run.runId} />
        <span>
          version {run.version} of <Id field="planId" id={run.planId} />
        </span>
        {run.scene && (
          <span>
            in <Id field="sceneId" id={run.scene} />
          </span>
        )}
        <span>
          started <Time at={run.startedAt} />
          {run.startedBy && ` by ${run.startedBy}`}
        </span>
        {tookMs !== undefined && <span>{span(Math.max(0, tookMs) / 1_000)}</span>}
        {(run.machines?.length ?? 0) > 0 && <span>holds {run.machines?.join(", ")}</span>}
      </p>
    </header>
  );
}

function wordOf(run: RunDoc): string | undefined {
  if (run.cancelling && !ENDED.has(run.status)) return "Being cancelled";
  return undefined;
}

interface InTime {
  run: RunDoc;
  log: readonly LogEvent[];
  chosen: string | null;
  onChoose: (id: string) => void;
}

function OverTime({ run, log, chosen, onChoose }: InTime) {
  useTick(run.finishedAt ? 60_000 : 500);
  const now = run.finishedAt ? Date.parse(run.finishedAt) : serverNow();
  const spans = spansOf(log, run.steps, run.startedAt, now);
  const totalS = Math.max((now - Date.parse(run.startedAt)) / 1_000, ...spans.map((span) => span.endS), 0.01);
  if (spans.length === 0) return <Empty title="No step has begun yet." />;
  return <Timeline spans={spans} totalS={totalS} chosen={chosen} onChoose={onChoose} />;
}

/** The scene as it is now, where there is one with a map, and the run over time. */
function Beside({ withTime, ...props }: InTime & { withTime: boolean }) {
  const name = props.run.scene;
  const scene = useFetched(name ? `scene ${name}` : null, (signal) =>
    get("/api/v1/scenes/{name}", { path: { name: name ?? "" }, signal }),
  ).value;
  const SceneMap = scene && craftOf(scene.kind)?.sceneMap;
  if (!SceneMap && !withTime) return null;
  return (
    <aside className="card padded stack run-beside" aria-label="Beside the steps">
      {scene && SceneMap && (
        <Suspense fallback={<Loading what="the map" />}>
          <SceneMap scene={scene} />
        </Suspense>
      )}
      {withTime && (
        <>
          <h2>Over time</h2>
          <OverTime {...props} />
        </>
      )}
    </aside>
  );
}

/** The arguments each step was planned with, to be told beside those that were used. */
function usePlanned(run: RunDoc): ReadonlyMap<string, Record<string, unknown>> {
  const plan = useFetched(`${run.planId} ${run.version}`, (signal) =>
    get("/api/v1/plans/{plan_id}", { path: { plan_id: run.planId }, query: { version: run.version }, signal }),
  ).value;
  return useMemo(() => new Map((plan?.steps ?? []).map((step) => [step.id, step.args])), [plan]);
}
