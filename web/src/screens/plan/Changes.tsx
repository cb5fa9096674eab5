/** What changed between two versions, step by step and field by field, or what an edit would change. */
import { inWords } from "@/parts/Form";
import { callInShort, inShort, type Step } from "@/parts/steps/steps";
import type { Edit } from "./useEditing";

export interface Change {
  change: "added" | "removed" | "changed" | "moved";
  id: string;
  step?: Step;
  fields?: Record<string, { from: unknown; to: unknown }>;
  from?: number;
  to?: number;
}

const WORDS = { added: "Added", removed: "Removed", changed: "Changed", moved: "Moved" };
const SIGNS = { added: "+", removed: "−", changed: "~", moved: "↕" };

export function Changes({ changes }: { changes: readonly Change[] }) {
  if (changes.length === 0) return <p className="soft">Nothing differs.</p>;
  return (
    <ul className="plan-changes">
      {changes.map((change) => (
        <li key={`${change.change} ${change.id}`} className={`plan-change plan-change-${change.change}`}>
          <p>
            <span className="plan-change-word">
              <span aria-hidden="true">{SIGNS[change.change]}</span> {WORDS[change.change]}
            </span>{" "}
            <code>{change.id}</code>
            {change.change === "moved" && ` from place ${change.from} to place ${change.to}`}
          </p>
          {change.step && <code className="soft small">{callInShort(change.step)}</code>}
          {change.fields && <Fields fields={change.fields} />}
        </li>
      ))}
    </ul>
  );
}

function Fields({ fields }: { fields: Record<string, { from: unknown; to: unknown }> }) {
  return (
    <dl className="plan-change-fields">
      {Object.entries(fields).flatMap(([name, field]) =>
        partsOf(name, field).map(([label, from, to]) => (
          <div key={label}>
            <dt className="soft">{label}</dt>
            <dd>
              <del>{inShort(from ?? "nothing", 400)}</del> <ins>{inShort(to ?? "nothing", 400)}</ins>
            </dd>
          </div>
        )),
      )}
    </dl>
  );
}

type Part = [string, unknown, unknown];

/** Arguments are told one by one. */
function partsOf(name: string, { from, to }: { from: unknown; to: unknown }): Part[] {
  if (name !== "args") return [[inWords(name), from, to]];
  const old = (from ?? {}) as Record<string, unknown>;
  const fresh = (to ?? {}) as Record<string, unknown>;
  return Object.keys({ ...old, ...fresh })
    .filter((key) => JSON.stringify(old[key]) !== JSON.stringify(fresh[key]))
    .map((key) => [inWords(key), old[key], fresh[key]]);
}

/** Edits as the changes they make to the version they were made on. */
export function changesOf(edits: readonly Edit[], steps: readonly Step[]): Change[] {
  const place = (id: string | undefined) => steps.findIndex((step) => step.id === id) + 1;
  return edits.map((edit): Change => {
    if (edit.op === "add") return { change: "added", id: String(edit.step.id), step: edit.step as Step };
    const step = steps.find((one) => one.id === edit.id);
    if (edit.op === "remove") return { change: "removed", id: edit.id, step };
    if (edit.op === "move")
      return { change: "moved", id: edit.id, from: place(edit.id), to: place(edit.before ?? edit.after) };
    const set = edit.op === "edit" ? edit.set : { status: edit.op === "skip" ? "skipped" : "pending" };
    const known = (step ?? {}) as Record<string, unknown>;
    const fields = Object.fromEntries(Object.entries(set).map(([name, to]) => [name, { from: known[name], to }]));
    return { change: "changed", id: edit.id, fields };
  });
}
