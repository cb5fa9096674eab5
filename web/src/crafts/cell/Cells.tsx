/** Cells: each with its map, robot, tool and stands, its state, what runs on it, and planning by words. */
import { write } from "@/api/client";
import { Link } from "@/frame/router";
import { CommandButton } from "@/parts/Command";
import { State } from "@/parts/StateMark";
import { Empty, Loading } from "@/parts/Told";
import { CellFaults } from "./CellFaults";
import { CellMap, RoleShape } from "./CellMap";
import { type Cell, type CellDocument, NO_TOOL } from "./model";
import { PlanByWords } from "./PlanByWords";
import { Sequence } from "./Sequence";
import { SetState } from "./SetState";
import { useCellDocument, useCells, useRunOf, useWaiting, useWay } from "./useCell";
import "./cells.css";

export default function Cells({ named }: { named: Record<string, string> }) {
  const { cells, ready } = useCells();
  const wanted = named.scene;
  const one =
    wanted === undefined ? (cells.length === 1 ? cells[0] : undefined) : cells.find((cell) => cell.scene === wanted);
  if (!ready) return <Loading what="the cells" />;
  if (one) return <WholeCell key={one.scene} cell={one} isOnly={cells.length === 1} />;
  if (wanted !== undefined)
    return (
      <>
        <h1>{wanted}</h1>
        <Empty title={`There is no cell ${wanted}.`}>
          <Link to="/cells" className="button">
            All cells
          </Link>
        </Empty>
      </>
    );
  return (
    <>
      <header className="page-head">
        <h1>Cells</h1>
      </header>
      {cells.length === 0 && (
        <Empty title="There is no cell yet.">
          <p>A scene of the kind cell describes one: its positions, moves, tools and routines.</p>
          <Link to="/scenes" className="button first">
            Go to the scenes
          </Link>
        </Empty>
      )}
      <ul className="cell-cards">
        {cells.map((cell) => (
          <CellCard key={cell.scene} cell={cell} />
        ))}
      </ul>
    </>
  );
}

function useWhole(cell: Cell) {
  const { document, active } = useCellDocument(cell.scene);
  const run = useRunOf(cell.scene);
  const waiting = useWaiting(cell.scene);
  const standing = cell.current_position ?? null;
  const way = useWay(run, waiting, standing);
  return { document, active, run, waiting, way, here: { from: standing, to: standing, share: 0 } };
}

function CellCard({ cell }: { cell: Cell }) {
  const { document, run, waiting, way, here } = useWhole(cell);
  return (
    <li className="card padded stack" data-cell={cell.scene}>
      <header className="row">
        <h2 className="spread">
          <Link to={`/cells/${encodeURIComponent(cell.scene)}`} data-step>
            {cell.scene}
          </Link>
        </h2>
        {!cell.active && <span className="soft">not live</span>}
      </header>
      {document && <CellMap document={document} here={here} tool={cell.current_tool} way={way} />}
      <Facts cell={cell} />
      <Sequence run={run} waiting={waiting} />
    </li>
  );
}

function WholeCell({ cell, isOnly }: { cell: Cell; isOnly: boolean }) {
  const { document, active, run, waiting, way, here } = useWhole(cell);
  return (
    <div className="cell" data-cell={cell.scene}>
      <header className="page-head">
        <h1>{cell.scene}</h1>
        {!isOnly && (
          <Link to="/cells" className="target">
            All cells
          </Link>
        )}
        <Link to={`/scenes/${encodeURIComponent(cell.scene)}`} className="target">
          The scene
        </Link>
        {!active && document && <Activate scene={cell.scene} />}
      </header>
      <div className="cell-body">
        <div className="stack">
          <div className="card cell-map-card">
            {document ? (
              <CellMap document={document} here={here} tool={cell.current_tool} way={way} />
            ) : (
              <Loading what="the map" />
            )}
          </div>
          <Legend hasWay={way.hops.size + way.stops.size > 0} />
        </div>
        <div className="stack">
          <section className="card padded stack" aria-labelledby="cell-state">
            <h2 id="cell-state">State</h2>
            <Facts cell={cell} />
            {document && <SetState cell={cell} document={document} />}
          </section>
          <section className="card padded stack" aria-labelledby="cell-runs">
            <h2 id="cell-runs">Under way</h2>
            <Sequence run={run} waiting={waiting} />
          </section>
          <section className="card padded stack" aria-labelledby="cell-plan">
            <h2 id="cell-plan">Plan by words</h2>
            <PlanByWords scene={cell.scene} />
            {document && <Examples document={document} />}
          </section>
          {document && <CellFaults document={document} />}
        </div>
      </div>
    </div>
  );
}

function Activate({ scene }: { scene: string }) {
  return (
    <>
      <State state="idle" word="Not live" />
      <CommandButton
        label="Make it live"
        needs="admin"
        call={() => write("post", "/api/v1/scenes/{name}/activate", { path: { name: scene } }) as Promise<unknown>}
      />
    </>
  );
}

function Facts({ cell }: { cell: Cell }) {
  return (
    <dl className="cell-facts">
      <dt>Stands at</dt>
      <dd data-fact="position">
        {cell.current_position ? (
          <strong>{cell.current_position}</strong>
        ) : (
          <>
            <State state="inDoubt" word="Not known" /> {cell.says}
          </>
        )}
      </dd>
      <dt>Holds</dt>
      <dd data-fact="tool">{cell.current_tool === NO_TOOL ? "nothing" : <strong>{cell.current_tool}</strong>}</dd>
      {cell.saidBy && (
        <>
          <dt>Said by</dt>
          <dd>{cell.saidBy}</dd>
        </>
      )}
    </dl>
  );
}

function Examples({ document }: { document: CellDocument }) {
  const words = document.routines.map((routine) => routine.name.replaceAll("_", " "));
  const work = document.positions.filter((position) => position.role === "work").map((position) => position.name);
  if (words.length === 0 || work.length === 0) return null;
  return (
    <p className="soft small">
      It can {words.slice(0, 4).join(", ")}. Work positions: {work.slice(0, 6).join(", ")}.
    </p>
  );
}

const ROLES: [string, string][] = [
  ["home", "Home"],
  ["safe", "Safe"],
  ["work", "Work"],
  ["stand", "Tool stand"],
];

function Legend({ hasWay }: { hasWay: boolean }) {
  return (
    <ul className="cell-legend" aria-label="What the shapes mean">
      {ROLES.map(([role, word]) => (
        <li key={role} className="cell-position" data-role={role}>
          <svg width="20" height="20" viewBox="0 0 24 24" aria-hidden="true">
            <RoleShape role={role} at={{ x: 12, y: 12 }} />
          </svg>
          {word}
        </li>
      ))}
      {hasWay &&
        [
          ["now", "Under way"],
          ["ahead", "To come"],
          ["done", "Done"],
        ].map(([progress, word]) => (
          <li key={progress} className={`cell-move ${progress}`}>
            <svg width="28" height="12" viewBox="0 0 28 12" aria-hidden="true">
              <line x1="2" y1="6" x2="26" y2="6" />
            </svg>
            {word}
          </li>
        ))}
    </ul>
  );
}
