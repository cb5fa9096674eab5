/**
 * Edits of a plan: each is sent on the version being read, all or nothing, and gives the next version or a refusal.
 *
 * One that is pressed while another is under way waits for it and goes onto the version it makes; when that one is
 * refused, those that waited are not sent, and that is said. The same edit pressed again is the same edit.
 */
import { useCallback, useRef, useState } from "react";
import { type Refusal, type Schemas, write } from "@/api/client";
import { type Stage, useCommand } from "@/parts/Command";
import type { Step } from "@/parts/steps/steps";
import type { PlanDoc } from "./usePlan";

export type Edit =
  | { op: "edit"; id: string; set: Record<string, unknown> }
  | { op: "move"; id: string; before?: string; after?: string }
  | { op: "skip" | "unskip" | "remove"; id: string }
  | { op: "add"; step: Partial<Step>; before?: string; after?: string };

export interface Editing {
  stage: Stage;
  refusal: Refusal | null;
  /** What was tried last, on which version. */
  tried: { edits: readonly Edit[]; on: number } | null;
  /** How many wait for the one under way. */
  waiting: number;
  /** How many waited for the one that was refused, and were not sent. */
  unsent: number;
  /** Whether what was pressed last is under way or waits already. */
  repeated: boolean;
  send: (edits: readonly Edit[], options?: { repair?: boolean; on?: number }) => Promise<boolean>;
  forget: () => void;
}

interface Turn {
  edits: string;
  /** The version it makes; null when it is refused. */
  made: Promise<number | null>;
}

export function useEditing(plan: PlanDoc, take: (plan: PlanDoc) => void): Editing {
  const { give, forget: clear, stage, refusal } = useCommand<Schemas["ReviewedPlanShape"]>();
  const [tried, setTried] = useState<Editing["tried"]>(null);
  const [waiting, setWaiting] = useState(0);
  const [unsent, setUnsent] = useState(0);
  const [repeated, setRepeated] = useState(false);
  const turns = useRef<Turn[]>([]);
  const { id, version } = plan;
  const put = useCallback(
    async (edits: readonly Edit[], repair: boolean, on: number): Promise<number | null> => {
      setTried({ edits, on });
      const answer = await give(() =>
        write("patch", "/api/v1/plans/{plan_id}", {
          path: { plan_id: id },
          body: { edits, repair },
          headers: { "If-Match": String(on) },
          patienceMs: 8_000,
        }),
      );
      if (answer === undefined) return null;
      const { decision: _, ...made } = answer;
      take(made);
      setTried(null);
      return made.version;
    },
    [give, id, take],
  );
  const afterThat = useCallback(async (before: Turn, next: (on: number) => Promise<number | null>) => {
    setWaiting((count) => count + 1);
    const on = await before.made;
    setWaiting((count) => count - 1);
    if (on !== null) return next(on);
    setUnsent((count) => count + 1);
    return null;
  }, []);
  const send = useCallback<Editing["send"]>(
    async (edits, { repair = false, on = version } = {}) => {
      const said = JSON.stringify(edits);
      const before = turns.current.at(-1);
      const isSame = turns.current.some((turn) => turn.edits === said);
      setRepeated(isSame);
      if (isSame) return false;
      if (before === undefined) setUnsent(0);
      const made =
        before === undefined ? put(edits, repair, on) : afterThat(before, (next) => put(edits, repair, next));
      const turn = { edits: said, made };
      turns.current.push(turn);
      const done = await made;
      turns.current = turns.current.filter((one) => one !== turn);
      if (turns.current.length === 0) setRepeated(false);
      return done !== null;
    },
    [put, afterThat, version],
  );
  const forget = useCallback(() => {
    setTried(null);
    setUnsent(0);
    clear();
  }, [clear]);
  return { stage, refusal, tried, waiting, unsent, repeated, send, forget };
}
