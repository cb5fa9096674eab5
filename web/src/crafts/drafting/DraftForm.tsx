/** A plan drafted by a model from the words above: asked for, followed, stopped; or what would be sent, and why not. */
import { useState } from "react";
import { ask, get, write } from "@/api/client";
import { goWith, Link, usePlace } from "@/frame/router";
import { useFetched, useList, useWhyNot } from "@/live/hooks";
import { CommandButton } from "@/parts/Command";
import { State } from "@/parts/StateMark";
import { Loading, ReasonLine, Refused } from "@/parts/Told";
import { Ago } from "@/parts/time";
import { Draft, stateOf } from "./Draft";
import "./drafting.css";

export default function DraftForm() {
  const { query } = usePlace();
  const text = (query.get("text") ?? "").trim();
  const draft = query.get("draft");
  const [shown, setShown] = useState<string | null>(null);
  const scenes = [...useList<{ active?: boolean }>("scenes").values()];
  // Without a live scene there is no field above; a draft needs none.
  const own = !scenes.some((scene) => scene.active);
  const missing = text === "" ? `Say what you want${own ? "" : " in the field above"} first.` : null;
  const whyNot = useWhyNot();
  return (
    <div className="stack">
      {own && (
        <div className="field">
          <label htmlFor="drafting-words">What do you want?</label>
          <textarea
            id="drafting-words"
            className="input"
            rows={2}
            defaultValue={text}
            onChange={(event) => goWith({ text: event.target.value })}
          />
        </div>
      )}
      <div className="row">
        <CommandButton
          label="Draft a plan"
          whyNot={whyNot ?? missing}
          call={() => write("post", "/api/v1/drafts", { body: { text }, patienceMs: 10_000 })}
          after={(begun) => goWith({ draft: begun.draftId })}
        />
        <button
          type="button"
          className="button ghost"
          aria-disabled={missing !== null || whyNot !== null}
          title={whyNot ?? missing ?? undefined}
          onClick={() => missing === null && whyNot === null && setShown(shown === text ? null : text)}
        >
          What would be sent?
        </button>
      </div>
      {missing && whyNot === null && <p className="soft small">{missing}</p>}
      {shown !== null && shown === text && <DryRun text={text} />}
      {draft ? <Draft id={draft} key={draft} /> : <Earlier />}
    </div>
  );
}

function DryRun({ text }: { text: string }) {
  const fetched = useFetched(`dry-run ${text}`, (signal) => ask("/api/v1/drafts/dry-run", { body: { text }, signal }));
  if (fetched.refusal) return <Refused refusal={fetched.refusal} />;
  if (fetched.value === undefined) return <Loading what="what would be sent" />;
  const { model, reason, system, messages } = fetched.value;
  return (
    <div className="stack drafting-sent">
      {reason && (
        <div className="told wait">
          <ReasonLine reason={reason} />
        </div>
      )}
      <p className="soft">Nothing was sent. {model ? `${model} would be told:` : "A model would be told:"}</p>
      {[{ role: "system", text: system }, ...messages].map((message, index) => (
        <details key={index} open={index > 0}>
          <summary>
            {message.role} <span className="soft small">{message.text.length.toLocaleString()} characters</span>
          </summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard */}
          <section className="drafting-text" aria-label={`Sent as ${message.role}`} tabIndex={0}>
            <pre>{message.text}</pre>
          </section>
        </details>
      ))}
    </div>
  );
}

function Earlier() {
  const fetched = useFetched(
    "drafts",
    (signal) => get("/api/v1/drafts", { query: { limit: 5 }, signal }),
    (event) => event.kind.startsWith("draft"),
  );
  if (!fetched.value?.length) return null;
  return (
    <div className="stack">
      <h3>Earlier drafts</h3>
      <ul className="stack">
        {fetched.value.map((draft) => (
          <li key={draft.draftId} className="row">
            <State {...stateOf(draft)} />
            <Link to={`/new?draft=${encodeURIComponent(draft.draftId)}`} data-step className="drafting-words">
              {draft.text}
            </Link>
            <span className="soft small">
              {draft.model} · <Ago at={draft.startedAt} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
