/** The steps as a graph: who waits for whom. Steps that serve one goal are folded under it until they are wanted. */
import { Background, Controls, type Edge, Handle, type Node, type NodeProps, Position, ReactFlow } from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { memo, useCallback, useMemo, useState } from "react";
import { lookOf, Mark } from "../StateMark";
import { BOX, type Box, laidOut } from "./layout";
import "./steps.css";
import { callInShort, goalsOf, type Step } from "./steps";

type BoxNode = Node<{ box: Box; down: boolean; chosen: boolean }, "box">;

const BoxView = memo(function BoxView({ data: { box, down, chosen } }: NodeProps<BoxNode>) {
  const look = lookOf(box.state);
  const folded = box.step === undefined;
  const name = box.step ? box.step.description || box.step.id : box.goal?.says;
  const call = box.step ? callInShort(box.step, "scene") : `${box.goal?.count} steps, folded`;
  return (
    <div
      className={`steps-graph-box ${folded ? "folded" : ""} ${chosen ? "chosen" : ""} edge-${look.tone}`}
      title={`${name}\n${look.word} · ${call}`}
    >
      <Handle type="target" position={down ? Position.Top : Position.Left} isConnectable={false} />
      <span className="steps-graph-title">
        <Mark state={box.state} />
        <span className="steps-graph-name">{name}</span>
      </span>
      <span className="soft small steps-graph-name">
        {look.word} · {call}
      </span>
      <Handle type="source" position={down ? Position.Bottom : Position.Right} isConnectable={false} />
    </div>
  );
});

const KINDS = { box: BoxView };
const MANY = 16;

export function Graph({
  steps,
  chosen,
  onChoose,
  down = false,
}: {
  steps: readonly Step[];
  chosen: string | null;
  onChoose: (id: string) => void;
  down?: boolean;
}) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const goals = useMemo(() => goalsOf(steps).filter((goal) => goal.steps.length > 1), [steps]);
  const [boxes, wires] = useMemo(() => laidOut(steps, open, down), [steps, open, down]);
  const nodes = useMemo<BoxNode[]>(
    () =>
      boxes.map((box) => ({
        id: box.id,
        type: "box",
        position: { x: box.x, y: box.y },
        data: { box, down, chosen: box.id === chosen },
        width: BOX.width,
        height: BOX.height,
        ariaLabel: `${box.step?.description || box.goal?.says || box.id}: ${lookOf(box.state).word}`,
      })),
    [boxes, down, chosen],
  );
  const edges = useMemo<Edge[]>(
    () => wires.map((wire) => ({ id: wire.id, source: wire.from, target: wire.to, focusable: false })),
    [wires],
  );
  const toggle = useCallback((key: string) => {
    setOpen((before) => {
      const after = new Set(before);
      if (!after.delete(key)) after.add(key);
      return after;
    });
  }, []);
  const pick = (id: string) => {
    const box = boxes.find((one) => one.id === id);
    if (box?.step) onChoose(box.step.id);
    else if (box?.goal) toggle(box.goal.key);
  };
  const first = nodes.slice(0, MANY).map((node) => ({ id: node.id }));
  return (
    <div className="stack">
      {goals.length > 0 && (
        <div className="row steps-graph-folds">
          <button
            type="button"
            className="button small"
            onClick={() => setOpen(open.size < goals.length ? new Set(goals.map((goal) => goal.key)) : new Set())}
          >
            {open.size < goals.length ? "Unfold all" : "Fold all"}
          </button>
          {goals.map((goal) => (
            <button
              key={goal.key}
              type="button"
              className="button small ghost steps-graph-fold"
              aria-expanded={open.has(goal.key)}
              title={goal.says}
              onClick={() => toggle(goal.key)}
            >
              <span aria-hidden="true">{open.has(goal.key) ? "−" : "+"}</span> {goal.says}
            </button>
          ))}
        </div>
      )}
      <div className="steps-graph card">
        <ReactFlow
          key={`${down} ${[...open].sort().join(",")}`}
          nodes={nodes}
          edges={edges}
          nodeTypes={KINDS}
          onKeyDown={(event) => {
            const node = (event.target as Element).closest<HTMLElement>(".react-flow__node");
            if ((event.key !== "Enter" && event.key !== " ") || !node?.dataset.id) return;
            event.preventDefault();
            pick(node.dataset.id);
          }}
          onNodeClick={(_, node) => pick(node.id)}
          nodesDraggable={false}
          nodesConnectable={false}
          edgesFocusable={false}
          onlyRenderVisibleElements={nodes.length > 60}
          minZoom={0.1}
          maxZoom={1.5}
          fitView
          fitViewOptions={{ minZoom: 0.45, maxZoom: 1, padding: 0.08, nodes: nodes.length > MANY ? first : undefined }}
          preventScrolling={false}
          zoomOnScroll={false}
          proOptions={{ hideAttribution: true }}
          aria-label="The steps and what each waits for"
        >
          <Background gap={24} size={1} color="var(--line)" />
          <Controls showInteractive={false} />
        </ReactFlow>
      </div>
    </div>
  );
}
