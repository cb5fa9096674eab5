/** A tool call as it is: the tool and every argument, beside what its author says of it and never instead of it. */
import { State } from "./StateMark";

export interface CallProps {
  tool: string;
  args?: Readonly<Record<string, unknown>>;
  effect?: string;
  destructive?: unknown;
  description?: string;
  mismatch?: unknown;
  /** Every argument to its end: what is approved here is read here. */
  whole?: boolean;
}

export function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

export function Call({ tool, args = {}, effect, destructive, description, mismatch, whole }: CallProps) {
  return (
    <div className="call">
      <p className="call-line">
        <code className="call-tool">{tool}</code>
        {Object.entries(args).map(([name, value]) => (
          <span className="call-arg" key={name}>
            <span className="soft">{name}</span>{" "}
            <code title={shown(value)}>{whole ? shown(value) : short(shown(value))}</code>
          </span>
        ))}
      </p>
      <p className="row small">
        {effect === "physical" && <span className="chip tone-wait">Physical</span>}
        {destructive !== undefined && destructive !== "never" && destructive !== false && (
          <span className="chip tone-bad">{destructive === "judged" ? "May destroy" : "Destroys"}</span>
        )}
        {description && <span className="soft">{description}</span>}
        {mismatch ? <State state="warning" word="The words do not match the call." /> : null}
      </p>
    </div>
  );
}

const SHORT = 160;

function short(text: string): string {
  return text.length > SHORT ? `${text.slice(0, SHORT)}…` : text;
}
