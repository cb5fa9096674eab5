/** What was added to the house: crafts, plug-ins and MCP servers, and which of them could not be loaded. */
import { get } from "@/api/client";
import { Link } from "@/frame/router";
import { useFetched } from "@/live/hooks";
import { State } from "@/parts/StateMark";
import { Empty, Loading, ReasonLine, Refused } from "@/parts/Told";

export function Plugins() {
  const plugins = useFetched("plugins", (signal) => get("/api/v1/plugins", { signal }));
  const settings = useFetched("settings", (signal) => get("/api/v1/settings", { signal }));
  const refusal = plugins.refusal ?? settings.refusal;
  if (refusal) return <Refused refusal={refusal} />;
  if (plugins.value === undefined || settings.value === undefined) return <Loading what="the plug-ins" />;
  const { crafts, plugins: named, points, tools, missing } = plugins.value;
  const sources = [...new Set(tools.map((tool) => tool.source))].sort();
  return (
    <section className="stack" aria-label="Plug-ins">
      {missing.map((reason) => (
        <div className="told bad" key={reason.says}>
          <ReasonLine reason={reason} />
        </div>
      ))}
      <dl className="values card padded">
        <div>
          <dt>Crafts</dt>
          <dd>{crafts.join(", ")}</dd>
        </div>
        <div>
          <dt>Plug-ins</dt>
          <dd>{named.join(", ") || "none"}</dd>
        </div>
        {points.map((point) => (
          <div key={point.group}>
            <dt>{point.group}</dt>
            <dd>
              {point.names.join(", ") || "none"} <span className="soft">for {point.craft}</span>
            </dd>
          </div>
        ))}
        <div>
          <dt>MCP servers</dt>
          <dd>{settings.value.mcp.join(", ") || "none"}</dd>
        </div>
      </dl>
      <h2>Where tools come from</h2>
      <ul className="card setup-list">
        {sources.map((source) => (
          <li key={source}>
            <State state="ok" word="Loaded" />
            <div>
              <strong>{source}</strong>
              <p className="soft">
                {tools
                  .filter((tool) => tool.source === source)
                  .map((tool) => tool.name)
                  .join(", ")}
              </p>
            </div>
          </li>
        ))}
      </ul>
      {settings.value.mcp.length === 0 && (
        <Empty title="No MCP server is connected.">
          <Link to="/help/tools" className="button">
            How to connect one
          </Link>
        </Empty>
      )}
    </section>
  );
}
