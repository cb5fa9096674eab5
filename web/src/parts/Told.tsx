/** What the server says: refusals, reasons and problems, word for word, with what they advise. */
import type { ReactNode } from "react";
import type { Refusal, Schemas } from "@/api/client";
import { Mark } from "./StateMark";

export function Refused({ refusal, children }: { refusal: Refusal; children?: ReactNode }) {
  return (
    <div className="told bad" role="alert">
      <Mark state="failed" />
      <div className="stack">
        <p>{refusal.message}</p>
        {refusal.problems.length > 0 && <Problems problems={refusal.problems} />}
        {refusal.tryNext && <p className="soft">{refusal.tryNext}</p>}
        {children}
      </div>
    </div>
  );
}

export function Problems({ problems }: { problems: readonly Partial<Schemas["ProblemShape"]>[] }) {
  return (
    <ul className="problems">
      {problems.map((problem, index) => (
        <li key={index}>
          {problem.path && !problem.says?.startsWith(problem.path) && <code>{problem.path}</code>} {problem.says}
          {problem.tryNext && <span className="soft"> {problem.tryNext}</span>}
        </li>
      ))}
    </ul>
  );
}

export type Reason = Pick<Schemas["ReasonShape"], "says"> & Partial<Schemas["ReasonShape"]>;

/** A reason as the server gave it; `action` is the button that does what it advises. */
export function ReasonLine({ reason, action }: { reason: Reason; action?: ReactNode }) {
  return (
    <div className="reason" data-code={reason.code}>
      <p>{reason.says}</p>
      {reason.tryNext && <p className="soft">{reason.tryNext}</p>}
      {action}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}

export function Loading({ what }: { what: string }) {
  return (
    <p className="loading soft" role="status">
      Reading {what} …
    </p>
  );
}
