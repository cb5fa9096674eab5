/** What is drawn over the map of a floor besides its robots: the ground they hold, where it is shared out. */
import { useEffect } from "react";
import { goWith, usePlace } from "@/frame/router";
import { sharesGround } from "./held";
import type { Floor } from "./useFloor";

export function Layers({ floor }: { floor: Floor }) {
  const { query } = usePlace();
  const isShared = sharesGround(floor.document);
  const isShown = isShared && query.get("ground") !== "off";
  const { painter, document } = floor;
  useEffect(() => painter.showHeld(isShown ? document : null), [painter, document, isShown]);
  if (!isShared) return null;
  return (
    <label className="floor-layer">
      <input
        type="checkbox"
        checked={isShown}
        onChange={(event) => goWith({ ground: event.target.checked ? null : "off" })}
      />
      Ground that robots hold, and who waits for whom
    </label>
  );
}
