/** Every id is a link to the view that shows the thing. */
import { Link } from "@/frame/router";

type Way = (id: string, about: Readonly<Record<string, unknown>>) => string;

/** Where each kind of id leads; crafts add their own when they are registered. */
const WAYS = new Map<string, Way>([
  ["planId", (id) => `/plans/${encodeURIComponent(id)}`],
  ["runId", (id) => `/runs/${encodeURIComponent(id)}`],
  ["decisionId", (id) => `/inbox/${encodeURIComponent(id)}`],
  ["sceneId", (id) => `/scenes/${encodeURIComponent(id)}`],
]);

export function addWays(ways: Readonly<Record<string, Way>>): void {
  for (const [field, way] of Object.entries(ways)) WAYS.set(field, way);
}

export function wayTo(field: string, id: string, about: Readonly<Record<string, unknown>> = {}): string | null {
  return WAYS.get(field)?.(id, about) ?? null;
}

export function Id({
  field,
  id,
  about,
  label,
}: {
  field: string;
  id: string;
  about?: Readonly<Record<string, unknown>>;
  label?: string;
}) {
  const to = wayTo(field, id, about);
  if (to === null) return <code>{label ?? id}</code>;
  return (
    <Link to={to} className="id" title={label && id}>
      {label ?? id}
    </Link>
  );
}

/** The ids an event or decision is about, each a link, without those that repeat another. */
export function About({
  about,
  labels = {},
}: {
  about: Readonly<Record<string, unknown>>;
  /** What a person calls the thing, by field, where that is known. */
  labels?: Readonly<Record<string, string | undefined>>;
}) {
  const shown = Object.entries(about).filter(([field, value], index, all) => {
    const repeated = all.findIndex(([, other]) => other === value) < index;
    return !repeated && typeof value === "string" && WAYS.has(field);
  });
  return (
    <span className="row about">
      {shown.map(([field, value]) => (
        <Id key={field} field={field} id={String(value)} about={about} label={labels[field]} />
      ))}
    </span>
  );
}
