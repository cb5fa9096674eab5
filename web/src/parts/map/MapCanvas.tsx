/**
 * The canvas that every map is drawn on: pan, zoom and fit by pointer, touch, wheel and keys, and a loop that draws only
 * when there is something new. What is drawn is a painter's; React is not asked per frame.
 *
 * The view fits the map until somebody moves it, and again when they ask for it.
 */
import { type ReactNode, useEffect, useRef } from "react";
import { useTheme } from "@/frame/theme";
import { MapHands } from "./hands";
import type { Painter } from "./painter";
import { MapStage } from "./stage";
import "./map.css";

interface Props<Hit> {
  painter: Painter<Hit>;
  label: string;
  onPick?: (hit: Hit | null) => void;
  /** Shown over the map. */
  children?: ReactNode;
  /** Changes when the map's things are others and it has to be fitted anew. */
  fitKey?: string;
}

export function MapCanvas<Hit>({ painter, label, onPick, children, fitKey }: Props<Hit>) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const stage = useRef<MapStage<Hit> | null>(null);
  const pick = useRef(onPick);
  pick.current = onPick;
  const theme = useTheme();
  useEffect(() => {
    if (canvas.current === null) return;
    const made = new MapStage(canvas.current, painter);
    const hands = new MapHands(canvas.current, made, (hit) => {
      const at = hit === null ? null : painter.zoomsInto?.(hit);
      if (at) made.zoomAt(at, 2.2);
      else pick.current?.(hit);
    });
    stage.current = made;
    return () => {
      hands.stop();
      made.stop();
      stage.current = null;
    };
  }, [painter]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another map is fitted anew
  useEffect(() => stage.current?.fit(), [fitKey]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme has other colours
  useEffect(() => stage.current?.repaint(), [theme]);
  return (
    <div className="map">
      {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: keys move and zoom it */}
      <canvas
        ref={canvas}
        className="map-canvas"
        tabIndex={0}
        role="application"
        aria-roledescription="map"
        aria-label={`${label}. Arrow keys move it, plus and minus zoom, 0 fits it.`}
      />
      <div className="map-tools">
        <Tool label="Zoom in" onPress={() => stage.current?.zoomBy(1.4)} d="M12 6v12M6 12h12" />
        <Tool label="Zoom out" onPress={() => stage.current?.zoomBy(1 / 1.4)} d="M6 12h12" />
        <Tool
          label="Fit the map"
          onPress={() => stage.current?.fit()}
          d="M5 9V5h4M19 9V5h-4M5 15v4h4M19 15v4h-4M9.5 12h5"
        />
      </div>
      {children}
    </div>
  );
}

function Tool({ label, onPress, d }: { label: string; onPress: () => void; d: string }) {
  return (
    <button type="button" className="map-tool" onClick={onPress} aria-label={label} title={label}>
      <svg
        width="18"
        height="18"
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth="2"
        aria-hidden="true"
      >
        <path d={d} strokeLinecap="round" strokeLinejoin="round" />
      </svg>
    </button>
  );
}
