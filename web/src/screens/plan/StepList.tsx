/**
 * The steps in their order, moved by pointer or keyboard. While one is dragged, the place it cannot go to names the
 * dependency; when it is dropped the server decides, and what it refuses goes back to where it was.
 */
import {
  closestCenter,
  DndContext,
  type DragOverEvent,
  KeyboardSensor,
  PointerSensor,
  useSensor,
  useSensors,
} from "@dnd-kit/core";
import { SortableContext, sortableKeyboardCoordinates, verticalListSortingStrategy } from "@dnd-kit/sortable";
import { useMemo, useState } from "react";
import { useWhyNot } from "@/live/hooks";
import { brokenBy, goalOf, moved, type Step } from "@/parts/steps/steps";
import type { RiskKind } from "./Risks";
import { type RowActions, StepRow } from "./StepRow";
import type { Editing } from "./useEditing";

const NO_RISKS: readonly RiskKind[] = [];

export function StepList({
  steps,
  chosen,
  onChoose,
  editing,
  risks,
}: {
  steps: readonly Step[];
  chosen: string | null;
  onChoose: (id: string) => void;
  editing: Editing;
  risks: ReadonlyMap<string, readonly RiskKind[]>;
}) {
  const whyNot = useWhyNot();
  const [put, setPut] = useState<{ from: readonly Step[]; order: readonly Step[] } | null>(null);
  const [refuses, setRefuses] = useState<{ over: string; says: string } | null>(null);
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: 4 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  );
  const shown = put?.from === steps ? put.order : steps;
  const { send } = editing;
  const actions = useMemo<RowActions>(
    () => ({
      choose: onChoose,
      skip: (step) => void send([{ op: step.status === "skipped" ? "unskip" : "skip", id: step.id }]),
      remove: (step) => void send([{ op: "remove", id: step.id }]),
    }),
    [onChoose, send],
  );
  const drop = async (id: string, over: string) => {
    const from = steps.findIndex((step) => step.id === id);
    const to = steps.findIndex((step) => step.id === over);
    if (from < 0 || to < 0 || from === to) return;
    setPut({ from: steps, order: moved(steps, id, to) });
    await send([{ op: "move", id, ...(to < from ? { before: over } : { after: over }) }]);
    setPut(null);
  };
  const look = ({ active, over }: DragOverEvent) => {
    const to = steps.findIndex((step) => step.id === over?.id);
    const broken = to < 0 ? null : brokenBy(moved(steps, String(active.id), to), String(active.id));
    setRefuses(
      broken && over ? { over: String(over.id), says: `${broken.later} needs ${broken.earlier} before it` } : null,
    );
  };
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCenter}
      accessibility={{ announcements: announcementsFor(steps), container: document.body }}
      onDragOver={look}
      onDragCancel={() => setRefuses(null)}
      onDragEnd={({ active, over }) => {
        setRefuses(null);
        if (over) void drop(String(active.id), String(over.id));
      }}
    >
      <SortableContext items={shown.map((step) => step.id)} strategy={verticalListSortingStrategy}>
        <ol className="plan-list card" aria-label="Steps in their order">
          {shown.map((step, index) => (
            <StepRow
              key={step.id}
              step={step}
              goal={goalBegins(shown, index)}
              chosen={step.id === chosen}
              whyNot={whyNot}
              risks={risks.get(step.id) ?? NO_RISKS}
              refuses={refuses?.over === step.id ? refuses.says : null}
              actions={actions}
            />
          ))}
        </ol>
      </SortableContext>
    </DndContext>
  );
}

function goalBegins(steps: readonly Step[], index: number): string | null {
  const step = steps[index];
  const before = steps[index - 1];
  const goal = step ? goalOf(step) : null;
  return goal && (before === undefined || goalOf(before)?.key !== goal.key) ? goal.says : null;
}

function announcementsFor(steps: readonly Step[]) {
  const place = (id: unknown) => steps.findIndex((step) => step.id === id) + 1;
  return {
    onDragStart: ({ active }: { active: { id: unknown } }) => `Step ${place(active.id)} is lifted.`,
    onDragOver: ({ over }: { over: { id: unknown } | null }) => (over ? `Over place ${place(over.id)}.` : undefined),
    onDragEnd: ({ over }: { over: { id: unknown } | null }) => (over ? `Put at place ${place(over.id)}.` : undefined),
    onDragCancel: () => "Left where it was.",
  };
}
