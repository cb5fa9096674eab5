/** Faults of every live fleet's simulated robots, for Setting up: a robot is chosen, then what goes wrong. */
import { useId, useState } from "react";
import { useList } from "@/live/hooks";
import { Loading } from "@/parts/Told";
import { Faults } from "./Faults";
import { byName, type Fleet, linkOf } from "./model";
import { useDocument, useScene } from "./useFloor";
import "./floor.css";

export default function FleetFaults() {
  const scenes = [...useList<Fleet>("fleets").keys()].sort();
  return scenes.map((scene) => <OneFleet key={scene} name={scene} />);
}

function OneFleet({ name }: { name: string }) {
  const id = useId();
  const [chosen, setChosen] = useState<string | null>(null);
  const document = useDocument(useScene(name).scene);
  const robots = (document?.robots ?? []).map((robot) => robot.robotId).sort(byName);
  const simulated = robots.filter((robotId) => document && linkOf(document, robotId) === "sim");
  const robotId = chosen ?? simulated[0];
  if (document === null) return <Loading what={name} />;
  if (robotId === undefined) return null;
  return (
    <section className="card padded stack" aria-label={name}>
      <h2>{name}</h2>
      <div className="field">
        <label htmlFor={id}>Robot</label>
        <select id={id} className="select" value={robotId} onChange={(event) => setChosen(event.target.value)}>
          {simulated.map((robot) => (
            <option key={robot}>{robot}</option>
          ))}
        </select>
      </div>
      <Faults key={robotId} document={document} robotId={robotId} open />
    </section>
  );
}
