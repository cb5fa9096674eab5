/** Something goes wrong with a simulated robot, for trying out what happens then. */
import { useId, useState } from "react";
import { CommandButton } from "@/parts/Command";
import { injectFault } from "./calls";
import { type FleetDocument, linkOf } from "./model";

/** The names the simulator knows, with what each is in words. */
const FAULTS: Readonly<Record<string, string>> = {
  offline: "Goes silent",
  blocked: "Something blocks its way",
  paused_by_hand: "Paused at the robot",
  lost_position: "Loses its position",
  sensor_wrong: "Its load sensor is wrong",
  dead_battery: "Its battery is dead",
  low_battery: "Its battery is low",
  restart: "Restarts and forgets its order",
  late_ack: "Acknowledges late",
  lost_ack: "An acknowledgement is lost",
  lost_command: "A command is lost",
  status5: "Its order fails",
  status6: "Its order ends as cancelled",
  cancelled_by_hand: "Its order is cancelled at the robot",
  duplicate: "A report comes twice",
  out_of_order: "A report comes late",
  mispick: "Picks nothing",
  not_recognised: "Does not recognise the pallet",
  misdrop: "Drops nothing",
};

interface Props {
  document: FleetDocument;
  robotId: string;
  /** Unfolded, where nothing else is looked at. */
  open?: boolean;
}

export function Faults({ document, robotId, open }: Props) {
  const [fault, setFault] = useState("offline");
  const [forS, setForS] = useState("20");
  const id = useId();
  if (linkOf(document, robotId) !== "sim") return null;
  const body = () => ({ fault, ...(Number(forS) > 0 ? { forS: Number(forS) } : {}) });
  return (
    <details className="floor-more" open={open}>
      <summary>Simulate a fault</summary>
      <div className="floor-fault">
        <label htmlFor={`${id}-what`}>What happens</label>
        <select id={`${id}-what`} className="select" value={fault} onChange={(event) => setFault(event.target.value)}>
          {Object.entries(FAULTS).map(([name, words]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </select>
        <label htmlFor={`${id}-long`}>For seconds</label>
        <input
          id={`${id}-long`}
          className="input"
          type="number"
          min={0}
          inputMode="decimal"
          value={forS}
          onChange={(event) => setForS(event.target.value)}
        />
        <CommandButton small label="Let it happen" call={() => injectFault(document.name, robotId, body())} />
      </div>
    </details>
  );
}
