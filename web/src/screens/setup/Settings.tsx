/** Every setting, its value, and where that comes from. */
import { get } from "@/api/client";
import { useFetched } from "@/live/hooks";
import { Mark } from "@/parts/StateMark";
import { Loading, Refused } from "@/parts/Told";

export function Settings() {
  const { value, refusal } = useFetched("settings", (signal) => get("/api/v1/settings", { signal }));
  if (refusal) return <Refused refusal={refusal} />;
  if (value === undefined) return <Loading what="the settings" />;
  return (
    <section className="stack" aria-label="Settings">
      {value.warnings.map((warning) => (
        <p className="told wait" key={warning}>
          <Mark state="warning" /> {warning}
        </p>
      ))}
      <div className="card scroll-x">
        <table className="table setup-settings">
          <thead>
            <tr>
              <th>Setting</th>
              <th>Value</th>
              <th>Comes from</th>
              <th>Variable</th>
              <th>What it is for</th>
            </tr>
          </thead>
          <tbody>
            {value.settings.map((setting) => (
              <tr key={setting.name}>
                <td>
                  <strong>{setting.name}</strong>
                </td>
                <td>
                  <code>{setting.value === null || setting.value === "" ? "–" : String(setting.value)}</code>
                </td>
                <td>{setting.source}</td>
                <td>
                  <code>{setting.environment}</code>
                </td>
                <td className="soft">{setting.says}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
