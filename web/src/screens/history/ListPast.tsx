/** One list of the past: read as it is now, filtered here, page by page. It holds still until it is read again. */
import { useEffect, useMemo, useState } from "react";
import type { Past, PastList } from "@/crafts/craft";
import { goWith, Link, useQuery } from "@/frame/router";
import { useFetched, useStore } from "@/live/hooks";
import { Empty, Loading, Refused } from "@/parts/Told";
import { Export } from "./Export";
import { Filters } from "./Filters";
import { csvOfPast } from "./files";
import { type Filter, isFiltered, passes } from "./filter";
import { PastTable } from "./PastTable";

const READ = 1_000;
const READ_AT_MOST = 10_000;
const PAGE = 50;

export function ListPast({ list, filter }: { list: PastList; filter: Filter }) {
  const [all] = useQuery("all");
  const [page] = useQuery("page");
  const limit = all === null ? READ : READ_AT_MOST;
  const read = useFetched(`past ${list.what} ${limit}`, (signal) => list.read(limit, signal));
  const rows = read.value;
  const states = useMemo(() => [...new Set((rows ?? []).map((one) => one.state))].sort(), [rows]);
  const found = useMemo(() => (rows ?? []).filter((one) => passes(one, filter)), [rows, filter]);
  const last = Math.max(0, Math.ceil(found.length / PAGE) - 1);
  const at = Math.min(Math.max(Number(page) || 0, 0), last);
  const exported = async (signal: AbortSignal) =>
    (limit === READ_AT_MOST && rows ? rows : await list.read(READ_AT_MOST, signal)).filter((one) =>
      passes(one, filter),
    );
  return (
    <>
      <Filters states={states} />
      <div className="row history-told">
        <p className="soft spread" role="status">
          {rows && `Found: ${found.length}${isFiltered(filter) ? ` of ${rows.length}` : ""}`}
        </p>
        <News list={list} rows={rows} again={read.again} />
        <Export
          name={list.what}
          most={READ_AT_MOST}
          make={exported}
          csv={csvOfPast}
          json={(past: readonly Past[]) => past.map((one) => one.row)}
        />
      </div>
      {read.refusal && <Refused refusal={read.refusal} />}
      {!rows && !read.refusal && <Loading what={list.title.toLowerCase()} />}
      {rows && rows.length >= limit && <Cut limit={limit} />}
      {rows && found.length > 0 && <PastTable rows={found.slice(at * PAGE, (at + 1) * PAGE)} what={list.title} />}
      {rows && found.length === 0 && <None list={list} any={rows.length > 0} />}
      {last > 0 && <Pages at={at} last={last} />}
    </>
  );
}

function Cut({ limit }: { limit: number }) {
  return (
    <p className="told wait">
      Only the newest {limit} are read.{" "}
      {limit < READ_AT_MOST && (
        <button type="button" className="button small" onClick={() => goWith({ all: "1" })}>
          Read up to {READ_AT_MOST}
        </button>
      )}
    </p>
  );
}

function None({ list, any }: { list: PastList; any: boolean }) {
  if (!any) {
    return (
      <Empty title={list.none.says}>
        <Link to={list.none.to} className="button">
          {list.none.button}
        </Link>
      </Empty>
    );
  }
  return (
    <Empty title="Nothing passes these filters.">
      <Link to={`/history?what=${list.what}`} className="button">
        No filters
      </Link>
    </Empty>
  );
}

/** What has happened since the list was read is told, and shown when asked. */
function News({ list, rows, again }: { list: PastList; rows: unknown; again: () => void }) {
  const store = useStore();
  const [since, setSince] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: counting begins anew when the list has been read
  useEffect(() => {
    setSince(0);
    return store.onEvent((event) => {
      if (list.concerns(event.kind)) setSince((before) => before + 1);
    });
  }, [store, list, rows]);
  if (since === 0) return null;
  return (
    <button type="button" className="button small" onClick={again}>
      Changes since: {since}. Read again
    </button>
  );
}

function Pages({ at, last }: { at: number; last: number }) {
  const to = (page: number) => {
    goWith({ page: page === 0 ? null : String(page) }, { replace: false });
    document.querySelector("main")?.scrollIntoView();
  };
  return (
    <nav className="row history-pages" aria-label="Pages">
      <button type="button" className="button" disabled={at === 0} onClick={() => to(at - 1)}>
        Newer
      </button>
      <span className="soft">
        Page {at + 1} of {last + 1}
      </span>
      <button type="button" className="button" disabled={at === last} onClick={() => to(at + 1)}>
        Older
      </button>
    </nav>
  );
}
