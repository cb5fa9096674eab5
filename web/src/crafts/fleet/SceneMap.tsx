/** A live fleet drawn small: its map alone, for a run's screen and the list of scenes. */
import { go } from "@/frame/router";
import { wayTo } from "@/parts/Ids";
import { MapCanvas } from "@/parts/map/MapCanvas";
import type { SceneMapProps } from "../craft";
import { useDocument, useFloor } from "./useFloor";
import "./floor.css";

export default function SceneMap({ scene }: SceneMapProps) {
  const document = useDocument(scene);
  return document && <Small document={document} />;
}

function Small({ document }: { document: NonNullable<ReturnType<typeof useDocument>> }) {
  const floor = useFloor(document);
  return (
    <div className="floor-small">
      <MapCanvas
        painter={floor.painter}
        label={`Map of ${floor.scene}`}
        onPick={(hit) => {
          if (hit === null || hit.kind === "several") return;
          const field = hit.kind === "robot" ? "robotId" : "worksiteId";
          go(wayTo(field, hit.id, { scene: floor.scene }) ?? "/floor");
        }}
      />
    </div>
  );
}
