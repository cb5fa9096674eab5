/** History: what happened and who decided, in tabs; what is looked at stands in the URL. */
import { useMemo } from "react";
import { serverNow } from "@/api/clock";
import { Icon } from "@/frame/Icon";
import { Link, usePlace } from "@/frame/router";
import { inView } from "@/parts/inView";
import { EventsPast } from "./EventsPast";
import { Filters } from "./Filters";
import { filterOf } from "./filter";
import { ListPast } from "./ListPast";
import { LISTS } from "./lists";
import "./history.css";

const TABS = [...LISTS.map(({ what, title }) => ({ what, title })), { what: "events", title: "Events" }];

export default function History() {
  const { query } = usePlace();
  const what = TABS.find((tab) => tab.what === query.get("what"))?.what ?? "runs";
  const list = LISTS.find((one) => one.what === what);
  // A span that ends now stays where it is until the filters change, so that no row moves by itself.
  const filter = useMemo(() => filterOf(query, serverNow()), [query]);
  return (
    <>
      <header className="page-head history-head">
        <h1 className="spread">History</h1>
        <Link to="/history/replay" className="button">
          <Icon name="history" size={16} /> Replay
        </Link>
        <Link to="/history/shift" className="button">
          <Icon name="print" size={16} /> Shift handover
        </Link>
      </header>
      <nav className="tabs" aria-label="What of the past">
        {TABS.map((tab) => (
          <Link
            key={tab.what}
            to={toTab(query, tab.what)}
            className="tab history-tab"
            ref={tab.what === what ? inView : undefined}
            aria-current={tab.what === what ? "page" : undefined}
          >
            {tab.title}
          </Link>
        ))}
      </nav>
      {list ? (
        <ListPast key={list.what} list={list} filter={filter} />
      ) : (
        <>
          <Filters states={[]} kinds />
          <EventsPast filter={filter} />
        </>
      )}
    </>
  );
}

/** The same scene, words and span in another tab; states differ between them. */
function toTab(query: URLSearchParams, what: string): string {
  const next = new URLSearchParams(query);
  for (const name of ["status", "page", "before", "all"]) next.delete(name);
  next.set("what", what);
  return `/history?${next}`;
}
