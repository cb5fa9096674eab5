/**
 * A chart in the console's own colours: bars for things, a line along time. The pointer and the arrow keys read single
 * values; the numbers themselves belong in a table beside it.
 */
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import "./Chart.css";
import { token, useTheme } from "@/frame/theme";
import { shortLabels, shownEvery } from "./ChartLabels";

interface Props {
  title: string;
  labels: readonly string[];
  values: readonly number[];
  unit?: string;
  kind?: "line" | "bars";
}

const HEIGHT = 240;
const NUMBERS = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });

export function Chart({ title, labels, values, unit = "", kind = "bars" }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const theme = useTheme();
  const short = useMemo(() => shortLabels(labels), [labels]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme has other colours
  useEffect(() => {
    const inside = box.current;
    if (inside === null) return;
    const drawn = new uPlot(
      options(inside.clientWidth, short, kind, values.every(Number.isInteger), setAt),
      [labels.map((_, index) => index), [...values]],
      inside,
    );
    plot.current = drawn;
    const watch = new ResizeObserver(() => drawn.setSize({ width: inside.clientWidth, height: HEIGHT }));
    watch.observe(inside);
    return () => {
      watch.disconnect();
      drawn.destroy();
      plot.current = null;
    };
  }, [labels, values, short, kind, theme]);
  const point = (index: number) => {
    const drawn = plot.current;
    if (drawn === null) return;
    const to = Math.min(Math.max(index, 0), values.length - 1);
    drawn.setCursor({ left: drawn.valToPos(to, "x"), top: drawn.valToPos(values[to] ?? 0, "y") });
    setAt(to);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "ArrowRight") point((at ?? -1) + 1);
    else if (event.key === "ArrowLeft") point((at ?? values.length) - 1);
    else if (event.key === "Home") point(0);
    else if (event.key === "End") point(values.length - 1);
    else return;
    event.preventDefault();
  };
  const value = at === null ? undefined : values[at];
  return (
    <figure className="chart">
      <figcaption className="row">
        <strong>{title}</strong>
        {unit && <span className="soft small">in {unit}</span>}
        <span className="spread" />
        <output className="chart-value" aria-live="polite">
          {at !== null && value !== undefined && (
            <>
              <span className="soft">{labels[at]}</span> {NUMBERS.format(value)} {unit}
            </>
          )}
        </output>
      </figcaption>
      <div
        ref={box}
        className="chart-box"
        role="application"
        aria-label={`${title}: ${values.length} values, left and right read them`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys read the values
        tabIndex={0}
        onKeyDown={press}
      />
    </figure>
  );
}

function options(
  width: number,
  labels: readonly string[],
  kind: "line" | "bars",
  whole: boolean,
  onPoint: (at: number | null) => void,
): uPlot.Options {
  const font = `${token("--text-small")} ${token("--sans")}`;
  const [ink, soft, line, accent] = [token("--ink"), token("--soft"), token("--line"), token("--accent")];
  const count = labels.length;
  const bars = kind === "bars";
  return {
    width,
    height: HEIGHT,
    padding: [12, 8, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false, points: { size: 9, fill: ink, stroke: accent, width: 2 } },
    scales: {
      x: { time: false, range: bars ? [-0.7, count - 0.3] : [0, Math.max(count - 1, 1)] },
      y: { range: (_, least, most) => [Math.min(0, least ?? 0), most > 0 ? most * 1.1 : 1] },
    },
    axes: [
      {
        stroke: soft,
        font,
        grid: { show: false },
        ticks: { stroke: line, size: 4 },
        splits: (drawn) => shownEvery(labels, drawn.width),
        values: (_, places) => places.map((place) => labels[place] ?? ""),
      },
      {
        stroke: soft,
        font,
        size: 56,
        grid: { stroke: line, width: 1 },
        ticks: { show: false },
        // Things that are counted have no marks between whole numbers.
        incrs: whole ? [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5, 1e6] : undefined,
        values: (_, marks) => marks.map((mark) => NUMBERS.format(mark)),
      },
    ],
    series: [
      {},
      {
        stroke: accent,
        width: bars ? 1 : 2,
        fill: `color-mix(in srgb, ${accent} ${bars ? 55 : 16}%, transparent)`,
        points: { show: !bars && count < 40, size: 5, fill: accent },
        ...(bars ? { paths: uPlot.paths.bars?.({ size: [0.7, 56], radius: 0.08 }) } : {}),
      },
    ],
    hooks: { setCursor: [(drawn) => onPoint(drawn.cursor.idx ?? null)] },
  };
}
