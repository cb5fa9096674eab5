/** Faults of every live cell whose controller is simulated, for Setting up. */
import { useList } from "@/live/hooks";
import { Loading } from "@/parts/Told";
import { CellFaults, isSimulated } from "./CellFaults";
import type { Cell } from "./model";
import { useCellDocument } from "./useCell";
import "./cells.css";

export default function SetupFaults() {
  const scenes = [...useList<Cell>("cells").values()].map((cell) => cell.scene).sort();
  return scenes.map((scene) => <OneCell key={scene} name={scene} />);
}

function OneCell({ name }: { name: string }) {
  const { document, active } = useCellDocument(name);
  if (document === null) return <Loading what={name} />;
  if (!active || !isSimulated(document)) return null;
  return (
    <section className="card padded stack" aria-label={name}>
      <h2>{name}</h2>
      <CellFaults document={document} open />
    </section>
  );
}
