/** One draft as it goes: each try with what was wrong with it, and the plan that came of it, or why none did. */
import { get, type Schemas, write } from "@/api/client";
import { Link } from "@/frame/router";
import { useFetched } from "@/live/hooks";
import { CommandButton } from "@/parts/Command";
import { State } from "@/parts/StateMark";
import { Loading, ReasonLine, Refused } from "@/parts/Told";
import { Ago, duration } from "@/parts/time";

type DraftRow = Schemas["DraftShape"];

const STATES: Record<string, { state: string; word: string }> = {
  drafting: { state: "running", word: "Drafting" },
  finished: { state: "done", word: "Drafted" },
  failed: { state: "failed", word: "Came to nothing" },
};

export function stateOf(draft: DraftRow): { state: string; word?: string } {
  if (draft.reason?.code === "draft.stopped") return { state: "cancelled", word: "Stopped" };
  return STATES[draft.status] ?? { state: draft.status };
}

export function Draft({ id }: { id: string }) {
  const fetched = useFetched(
    `draft ${id}`,
    (signal) => get("/api/v1/drafts/{draft_id}", { path: { draft_id: id }, signal }),
    (event) => event.about.draftId === id,
  );
  if (fetched.refusal) return <Refused refusal={fetched.refusal} />;
  const draft = fetched.value;
  if (draft === undefined) return <Loading what="the draft" />;
  return (
    <div className="stack drafting-draft" data-draft={id}>
      <div className="row" role="status">
        <State {...stateOf(draft)} />
        <span className="soft small">
          {draft.model} · <Ago at={draft.startedAt} />
          {draft.usage && ` · ${duration(draft.usage.seconds)}`}
        </span>
        <span className="spread" />
        {draft.status === "drafting" && (
          <CommandButton
            label="Stop"
            small
            call={() => write("post", "/api/v1/drafts/{draft_id}/stop", { path: { draft_id: id } })}
            describe="Wait for the model no longer."
          />
        )}
      </div>
      <p>{draft.text}</p>
      <ol className="stack">
        {draft.tries.map((tried) => (
          <li key={tried.try}>
            <State
              state={tried.problems.length > 0 ? "failed" : "done"}
              word={`Try ${tried.try}: ${tried.problems.length > 0 ? `${tried.problems.length} wrong` : "sound"}`}
            />
            <ul className="problems">
              {tried.problems.map((problem, index) => (
                <li key={index}>{problem}</li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
      {draft.reason && (
        <div className="told bad">
          <ReasonLine reason={draft.reason} />
        </div>
      )}
      {draft.status === "finished" && draft.planId && (
        <p>
          <Link className="button first" to={`/plans/${encodeURIComponent(draft.planId)}`}>
            Review the plan
          </Link>
        </p>
      )}
    </div>
  );
}
