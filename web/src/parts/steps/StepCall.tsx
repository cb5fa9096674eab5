/** One step's call as it is, beside what its author says of it; the call is the truth. */
import { inWords } from "../Form";
import "./steps.css";
import { inShort, type Step } from "./steps";

export function Arguments({ args, others }: { args: Step["args"]; others?: Step["args"] }) {
  const names = Object.keys({ ...args, ...others });
  if (names.length === 0) return <p className="soft">No arguments.</p>;
  return (
    <dl className="steps-args">
      {names.map((name) => {
        const other = others !== undefined && JSON.stringify(others[name]) !== JSON.stringify(args[name]);
        return (
          <div key={name} className={other ? "steps-arg other" : "steps-arg"}>
            <dt>{inWords(name)}</dt>
            <dd>
              <Value value={args[name]} />
              {other && <span className="soft small"> planned: {inShort(others[name] ?? "nothing")}</span>}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

export function Value({ value }: { value: unknown }) {
  if (value === undefined || value === null) return <span className="soft">nothing</span>;
  if (typeof value === "string")
    return value.includes("\n") ? <pre className="steps-value">{value}</pre> : <code>{value}</code>;
  if (typeof value === "object") return <pre className="steps-value">{JSON.stringify(value, null, 2)}</pre>;
  return <code>{String(value)}</code>;
}

export function StepCall({ step, planned, mismatch }: { step: Step; planned?: Step["args"]; mismatch?: string }) {
  return (
    <div className="steps-call">
      <section>
        <h3 className="soft small">What it calls</h3>
        <p>
          <code className="steps-call-tool">{step.tool}</code>
        </p>
        <Arguments args={step.args} others={planned} />
      </section>
      <section>
        <h3 className="soft small">What its author says</h3>
        {step.description ? <blockquote>{step.description}</blockquote> : <p className="soft">Nothing.</p>}
        {mismatch && <p className="tone-doubt">{mismatch}</p>}
      </section>
    </div>
  );
}
