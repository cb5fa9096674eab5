/** Named values as a list of terms, for evidence and details that have no view of their own. */
import type { ReactNode } from "react";
import { inWords } from "./Form";

export function Values({
  of,
  names = {},
}: {
  of: Readonly<Record<string, unknown>>;
  names?: Readonly<Record<string, string>>;
}) {
  const shown = Object.entries(of).filter(([, value]) => value !== null && value !== undefined && value !== "");
  if (shown.length === 0) return null;
  return (
    <dl className="values">
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{names[name] ?? inWords(name)}</dt>
          <dd>{valueShown(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

export function valueShown(value: unknown): ReactNode {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) return value.join(", ") || "none";
  if (Array.isArray(value)) {
    return (
      <ul className="stack">
        {value.map((item, index) => (
          <li key={index}>{valueShown(item)}</li>
        ))}
      </ul>
    );
  }
  return <Values of={value as Record<string, unknown>} />;
}
