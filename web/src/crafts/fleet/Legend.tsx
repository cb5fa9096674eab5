/** What the shapes on the map mean. */
import { State } from "@/parts/StateMark";
import { OccupancyWord } from "./Occupancy";

const STATES = ["moving_to_pick", "picking", "idle", "charging", "held", "error", "blocked", "offline"];

export function Legend() {
  return (
    <details className="floor-legend">
      <summary>What the shapes mean</summary>
      <div>
        {STATES.map((state) => (
          <State key={state} state={state} />
        ))}
        {["empty", "filled", "unknown"].map((occupancy) => (
          <OccupancyWord key={occupancy} occupancy={occupancy} />
        ))}
        <OccupancyWord occupancy="reserved" under="filled" />
      </div>
    </details>
  );
}
