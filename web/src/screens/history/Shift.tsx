/** The shift handover, to be read or printed: what was done, what failed and why, who decided what, and what waits now. */
import { useMemo, useState } from "react";
import type { Schemas } from "@/api/client";
import { serverNow } from "@/api/clock";
import { CRAFTS } from "@/crafts";
import type { Past } from "@/crafts/craft";
import { Icon } from "@/frame/Icon";
import { go, Link, usePlace } from "@/frame/router";
import { useFetched, useList, useLive } from "@/live/hooks";
import type { LogEvent } from "@/live/protocol";
import { Empty, Loading, Refused } from "@/parts/Told";
import { localOf } from "./Filters";
import { filterOf, within } from "./filter";
import { LISTS } from "./lists";
import { readPage } from "./log";
import { ShiftPage } from "./ShiftPage";
import "./history.css";
import "./shift.css";

const SHIFT_MS = 8 * 3_600_000;
const READ = 10_000;
const HOLDS = ["everythingHeld", "everythingCleared", ...CRAFTS.flatMap((craft) => craft.holds ?? [])];

export interface ShiftData {
  lists: { what: string; title: string; rows: Past[]; cut: boolean }[];
  holds: LogEvent[];
}

export default function Shift() {
  const { query } = usePlace();
  const [opened] = useState(() => serverNow());
  const span = useMemo(() => {
    const asked = filterOf(query, opened);
    const to = asked.to ?? opened;
    return { from: asked.from ?? to - SHIFT_MS, to };
  }, [query, opened]);
  const read = useFetched(`shift ${span.from} ${span.to}`, (signal) => readShift(span, signal));
  const decisions = useList<Schemas["DecisionShape"]>("decisions");
  const hold = useLive((snapshot) => snapshot.hold);
  return (
    <>
      <header className="page-head shift-no-print">
        <div className="spread stack history-title">
          <p className="small">
            <Link to="/history">History</Link>
          </p>
          <h1>Shift handover</h1>
        </div>
        <Bounds from={span.from} to={span.to} />
        <button type="button" className="button first" onClick={() => window.print()}>
          <Icon name="print" size={16} /> Print
        </button>
      </header>
      {read.refusal && <Refused refusal={read.refusal} />}
      {!read.value && !read.refusal && <Loading what="the shift" />}
      {span.from >= span.to && (
        <Empty title="The shift ends before it begins.">
          <Link to="/history/shift" className="button">
            The last 8 hours
          </Link>
        </Empty>
      )}
      {read.value && span.from < span.to && (
        <ShiftPage span={span} data={read.value} waiting={[...decisions.values()]} hold={hold} />
      )}
    </>
  );
}

async function readShift(span: { from: number; to: number }, signal: AbortSignal): Promise<ShiftData> {
  const nothing = { scene: "", text: "", before: null };
  const holds = readPage({ ...nothing, ...span, status: HOLDS.join(",") }, 200, signal);
  const lists = LISTS.filter((list) => list.what !== "plans").map(async ({ what, title, read }) => {
    const rows = await read(READ, signal);
    return { what, title, rows: rows.filter((one) => within(one, span)), cut: rows.length >= READ };
  });
  return { lists: await Promise.all(lists), holds: (await holds).events.reverse() };
}

function Bounds({ from, to }: { from: number; to: number }) {
  const set = (name: "from" | "to", text: string) => {
    const time = new Date(text);
    if (Number.isNaN(time.getTime())) return;
    const next = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), [name]: time.toISOString() };
    go(`/history/shift?from=${encodeURIComponent(next.from)}&to=${encodeURIComponent(next.to)}`, { replace: true });
  };
  return (
    <div className="row">
      {(["from", "to"] as const).map((name) => (
        <label key={name} className="row small">
          {name === "from" ? "From" : "To"}
          <input
            className="input shift-time"
            type="datetime-local"
            value={localOf(new Date(name === "from" ? from : to).toISOString())}
            onChange={(event) => set(name, event.target.value)}
          />
        </label>
      ))}
    </div>
  );
}
