/** The simulated controller goes wrong at the next command that fits, for trying out what happens then. */
import { useId, useState } from "react";
import { write } from "@/api/client";
import { CommandButton } from "@/parts/Command";
import type { CellDocument } from "./model";

const FAULTS: Readonly<Record<string, string>> = {
  fail: "An error before anything moves",
  stall: "A step that never ends",
  power: "Power is lost half-way",
  tool_missing: "The tool stand is empty",
  verify: "A check is not passed",
};

/** Whether a simulated controller moves the cell. */
export function isSimulated({ controller }: CellDocument): boolean {
  const kind =
    typeof controller === "object" && controller !== null ? (controller as { kind?: string }).kind : controller;
  return kind === undefined || kind === null || kind === "sim";
}

/** `open` where nothing else is looked at. */
export function CellFaults({ document, open }: { document: CellDocument; open?: boolean }) {
  const id = useId();
  const [fault, setFault] = useState("fail");
  const [target, setTarget] = useState("");
  if (!isSimulated(document)) return null;
  const body = { fault, ...(target ? { target } : {}) };
  const targets = [...document.positions.map((one) => one.name), ...document.routines.map((one) => one.name)];
  return (
    <details className="cell-more" open={open}>
      <summary>Simulate a fault</summary>
      <div className="stack">
        <div className="field">
          <label htmlFor={`${id}-what`}>What happens</label>
          <select id={`${id}-what`} className="select" value={fault} onChange={(event) => setFault(event.target.value)}>
            {Object.entries(FAULTS).map(([name, words]) => (
              <option key={name} value={name}>
                {words}
              </option>
            ))}
          </select>
        </div>
        <div className="field">
          <label htmlFor={`${id}-at`}>At</label>
          <select id={`${id}-at`} className="select" value={target} onChange={(event) => setTarget(event.target.value)}>
            <option value="">the next that fits</option>
            {targets.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </div>
        <CommandButton
          small
          label="Let it happen"
          call={() =>
            write("post", "/api/v1/cells/{scene}/faults", { path: { scene: document.name }, body }) as Promise<unknown>
          }
        />
      </div>
    </details>
  );
}
