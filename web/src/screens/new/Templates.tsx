/** Plans kept for reuse: pick one, fill its parameters in, and it becomes a plan to review. */
import { useState } from "react";
import { get, type Schemas, write } from "@/api/client";
import { go, Link, useQuery } from "@/frame/router";
import { useFetched } from "@/live/hooks";
import { CommandButton } from "@/parts/Command";
import { blank, type JsonSchema, SchemaForm } from "@/parts/Form";
import { Empty, Loading, Refused } from "@/parts/Told";

type Template = Schemas["TemplateShape"];

export function Templates() {
  const fetched = useFetched(
    "templates",
    (signal) => get("/api/v1/templates", { signal }),
    (event) => event.kind === "templateSaved",
  );
  const [chosen, choose] = useQuery("template");
  return (
    <section className="card padded stack" id="templates" aria-labelledby="templates-title">
      <h2 id="templates-title">Templates</h2>
      {fetched.refusal && <Refused refusal={fetched.refusal} />}
      {fetched.value === undefined && !fetched.refusal && <Loading what="the templates" />}
      {fetched.value?.length === 0 && (
        <Empty title="No plan has been kept as a template yet.">
          <Link className="button" to="/help/plans">
            How to keep one
          </Link>
        </Empty>
      )}
      <ul className="stack">
        {fetched.value?.map((template) => (
          <li key={template.name} className="new-template">
            <button
              type="button"
              className="new-template-name"
              data-step
              aria-expanded={chosen === template.name}
              onClick={() => choose(chosen === template.name ? null : template.name)}
            >
              <strong>{template.name}</strong>
              <span className="soft small">{template.description || stepsOf(template)}</span>
            </button>
            {chosen === template.name && <Filled template={template} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

function stepsOf(template: Template): string {
  const steps = template.plan.steps;
  const count = Array.isArray(steps) ? steps.length : 0;
  return `${count} ${count === 1 ? "step" : "steps"}`;
}

interface Parameter {
  type?: string;
  description?: string;
  default?: unknown;
  required?: boolean | null;
}

/** The parameters as a schema: required unless they have a default or say otherwise. */
export function schemaOf(parameters: Readonly<Record<string, Parameter>>): JsonSchema {
  const entries = Object.entries(parameters);
  const field = ({ type, description, default: value }: Parameter): JsonSchema => ({
    type: type ?? "string",
    description: description || undefined,
    default: value ?? undefined,
  });
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, spec]) => [name, field(spec)])),
    required: entries.filter(([, spec]) => spec.required ?? (spec.default ?? null) === null).map(([name]) => name),
  };
}

function Filled({ template }: { template: Template }) {
  const schema = schemaOf(template.parameters as Record<string, Parameter>);
  const [value, setValue] = useState(() => blank(schema));
  return (
    <div className="stack">
      {Object.keys(schema.properties ?? {}).length > 0 && (
        <SchemaForm schema={schema} value={value} onChange={setValue} />
      )}
      <CommandButton
        label="Plan from it"
        tone="first"
        call={() =>
          write("post", "/api/v1/templates/{name}/plans", {
            path: { name: template.name },
            body: { parameters: value },
            patienceMs: 20_000,
          })
        }
        after={(plan) => go(`/plans/${encodeURIComponent(plan.id)}`)}
      />
    </div>
  );
}
