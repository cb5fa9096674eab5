/** Every tool a plan may call: what it does to the world, and what it takes. */
import { get } from "@/api/client";
import { useQuery } from "@/frame/router";
import { useFetched } from "@/live/hooks";
import type { JsonSchema } from "@/parts/Form";
import { Empty, Loading, Refused } from "@/parts/Told";

const EFFECTS: Record<string, string> = {
  pure: "Pure: changes nothing",
  idempotent: "Idempotent: may be done again",
  physical: "Physical: never done twice unasked",
};
const DESTROYS: Record<string, string> = { always: "Destroys", judged: "May destroy" };

export function Tools() {
  const { value, refusal } = useFetched("tools", (signal) => get("/api/v1/tools", { signal }));
  const [words, setWords] = useQuery("q");
  if (refusal) return <Refused refusal={refusal} />;
  if (value === undefined) return <Loading what="the tools" />;
  const fits = (text: string) => text.toLowerCase().includes((words ?? "").toLowerCase());
  const tools = value.filter((tool) => fits(`${tool.name} ${tool.description} ${tool.source}`));
  return (
    <section className="stack" aria-label="Tools">
      <input
        className="input setup-search"
        data-search
        aria-label="Search the tools"
        placeholder="Search"
        value={words ?? ""}
        onChange={(event) => setWords(event.target.value)}
      />
      {tools.map((tool) => (
        <details key={tool.name} className="card setup-tool" data-step>
          <summary>
            <code>{tool.name}</code>
            <span className={`chip ${tool.effect === "physical" ? "tone-wait" : ""}`}>{EFFECTS[tool.effect]}</span>
            {DESTROYS[tool.destructive] && <span className="chip tone-bad">{DESTROYS[tool.destructive]}</span>}
            {tool.asksPerson && <span className="chip">Asks a person</span>}
            <span className="soft small">{tool.source}</span>
            <span className="setup-says">{tool.description}</span>
          </summary>
          <Takes schema={tool.inputSchema as JsonSchema} />
          {tool.output && <p className="soft">Gives: {tool.output}</p>}
        </details>
      ))}
      {tools.length === 0 && <Empty title="No tool fits." />}
    </section>
  );
}

function Takes({ schema }: { schema: JsonSchema }) {
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return <p className="soft">Takes no arguments.</p>;
  const required = new Set(schema.required ?? []);
  return (
    <div className="scroll-x">
      <table className="table">
        <thead>
          <tr>
            <th>Argument</th>
            <th>Type</th>
            <th>Needed</th>
            <th>What it is</th>
          </tr>
        </thead>
        <tbody>
          {fields.map(([name, field]) => (
            <tr key={name}>
              <td>
                <code>{name}</code>
              </td>
              <td>{typeWord(field)}</td>
              <td>{required.has(name) ? "yes" : "no"}</td>
              <td>{field.description}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function typeWord(field: JsonSchema): string {
  if (field.enum) return field.enum.map(String).join(" | ");
  const types = field.type ?? (field.anyOf ?? []).map((one) => one.type).filter(Boolean);
  return Array.isArray(types) ? types.join(" or ") : types;
}
