/** A cell drawn: positions by role, moves, where the robot is and what it holds, and the way a plan takes. */
import { useEffect, useMemo, useRef, useState } from "react";
import type { Point } from "@/parts/map/view";
import { type Layout, layoutOf } from "./layout";
import { type CellDocument, hopKey, NO_TOOL, NO_WAY, type Way } from "./model";
import "./cells.css";

const ROLES: Record<string, string> = { home: "home", safe: "safe", work: "work", stand: "tool stand" };

export interface Here {
  from: string | null;
  to: string | null;
  share: number;
}

interface Props {
  document: CellDocument;
  here: Here;
  tool: string;
  way?: Way;
}

export function CellMap({ document, here, tool, way = NO_WAY }: Props) {
  const names = [here.from, here.to, ...way.stops.keys()].filter((name): name is string => name !== null);
  const strong = [...new Set(names)].sort().join("\n");
  const [ref, width] = useWidth();
  const held = tool === NO_TOOL ? "" : tool;
  const layout = useMemo(
    () => layoutOf(document, { strong: new Set(strong.split("\n")), here: here.from, tool: held }, width),
    [document, strong, here.from, held, width],
  );
  const at = pointOf(layout, here);
  return (
    <svg
      ref={ref}
      className="cell-map"
      viewBox={`0 0 ${layout.width} ${layout.height}`}
      role="img"
      aria-label={told(document.name, here, tool)}
      data-position={here.share === 0 ? (here.from ?? "") : ""}
      data-tool={tool}
    >
      <Moves document={document} layout={layout} way={way} />
      <Positions document={document} layout={layout} way={way} here={here} />
      {layout.labels.map((label) => (
        <Name key={label.key} label={label} spot={layout.spots.get(label.key)} isStrong={names.includes(label.key)} />
      ))}
      {at && <Robot at={at} tool={tool} />}
    </svg>
  );
}

/** How wide the picture is on the screen, roughly. */
function useWidth(): [React.RefObject<SVGSVGElement | null>, number] {
  const ref = useRef<SVGSVGElement>(null);
  const [width, setWidth] = useState(640);
  useEffect(() => {
    if (ref.current === null) return;
    const sizes = new ResizeObserver(([entry]) => {
      const wide = entry?.contentRect.width ?? 0;
      if (wide > 0) setWidth(Math.max(300, Math.min(800, Math.round(wide / 20) * 20)));
    });
    sizes.observe(ref.current);
    return () => sizes.disconnect();
  }, []);
  return [ref, width];
}

function told(name: string, here: Here, tool: string): string {
  const where =
    here.from === null
      ? "the position of the robot is not known"
      : here.share > 0
        ? `the robot moves from ${here.from} to ${here.to}`
        : `the robot stands at ${here.from}`;
  return `Map of ${name}: ${where}, holding ${tool === NO_TOOL ? "nothing" : tool}`;
}

function pointOf(layout: Layout, here: Here): Point | null {
  const from = here.from === null ? undefined : layout.spots.get(here.from);
  const to = here.to === null ? undefined : layout.spots.get(here.to);
  if (!from) return to ?? null;
  if (!to) return from;
  return { x: from.x + (to.x - from.x) * here.share, y: from.y + (to.y - from.y) * here.share };
}

function Moves({ document, layout, way }: { document: CellDocument; layout: Layout; way: Way }) {
  return document.moves.map((move) => {
    const [from, to] = [layout.spots.get(move.from), layout.spots.get(move.to)];
    if (!from || !to) return null;
    const progress = way.hops.get(hopKey(move.from, move.to)) ?? "";
    return (
      <g key={`${move.from} ${move.to}`} className={`cell-move ${progress}`}>
        <line x1={from.x} y1={from.y} x2={to.x} y2={to.y} />
        {move.one_way && <path d={arrow(from, to)} />}
      </g>
    );
  });
}

/** The head of an arrow in the middle of a line. */
function arrow(from: Point, to: Point): string {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const [ux, uy] = [((to.x - from.x) / length) * 6, ((to.y - from.y) / length) * 6];
  const [x, y] = [(from.x + to.x) / 2, (from.y + to.y) / 2];
  return `M${x - ux - uy} ${y - uy + ux}L${x + ux} ${y + uy}L${x - ux + uy} ${y - uy - ux}Z`;
}

function Positions({ document, layout, way, here }: { document: CellDocument; layout: Layout; way: Way; here: Here }) {
  const stands = new Map(document.tools.map((tool) => [tool.stand, tool.name]));
  return document.positions.map(({ name, role }) => {
    const spot = layout.spots.get(name);
    if (!spot) return null;
    const stops = way.stops.get(name) ?? [];
    const progress = ["now", "done", "ahead"].find((one) => stops.some((stop) => stop.progress === one)) ?? "";
    const tool = stands.get(name);
    const says = [
      `${name}: ${ROLES[role ?? "work"] ?? role}${tool ? ` of ${tool}` : ""}`,
      ...stops.map((stop) => stop.says),
    ].join("; ");
    const isHere = here.share === 0 && here.from === name;
    return (
      <g key={name} className={`cell-position ${progress} ${isHere ? "here" : ""}`} data-name={name} data-role={role}>
        <title>{says}</title>
        <RoleShape role={role ?? "work"} at={spot} />
      </g>
    );
  });
}

export function RoleShape({ role, at: { x, y } }: { role: string; at: Point }) {
  if (role === "work") return <rect x={x - 7} y={y - 7} width={14} height={14} rx={2} />;
  if (role === "stand") return <path d={`M${x} ${y - 9}L${x + 9} ${y}L${x} ${y + 9}L${x - 9} ${y}Z`} />;
  if (role === "home") return <path d={`M${x} ${y - 10}L${x + 9} ${y - 2}V${y + 8}H${x - 9}V${y - 2}Z`} />;
  return <circle cx={x} cy={y} r={6.5} />;
}

/** The name, written away from its position whatever the width of the letters. */
function Name(given: { label: Layout["labels"][number]; spot: Point | undefined; isStrong: boolean }) {
  const { label, spot, isStrong } = given;
  const { box, lines } = label;
  const side = !spot ? "middle" : box.left > spot.x ? "start" : box.right < spot.x ? "end" : "middle";
  const x = { start: box.left, end: box.right, middle: (box.left + box.right) / 2 }[side];
  return (
    <text className={isStrong ? "cell-name strong" : "cell-name"} textAnchor={side}>
      {lines.map((line, row) => (
        <tspan key={line} x={x} y={box.top + 14 * (row + 1) - 3.5}>
          {line}
        </tspan>
      ))}
    </text>
  );
}

function Robot({ at, tool }: { at: Point; tool: string }) {
  return (
    <g className="cell-robot" style={{ transform: `translate(${at.x}px, ${at.y}px)` }}>
      <circle className="cell-halo" r={15} />
      <circle className="cell-core" r={5} />
      {tool !== NO_TOOL && (
        <g className="cell-held">
          <title>{`holds ${tool}`}</title>
          <path d="M9 -18h10v10h-10z" />
          <text x={23} y={-9}>
            {tool}
          </text>
        </g>
      )}
    </g>
  );
}
