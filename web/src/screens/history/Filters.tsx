/** The filters of History. Each is a part of the URL. */
import { useEffect, useState } from "react";
import { goWith, usePlace } from "@/frame/router";
import { useList } from "@/live/hooks";
import { lookOf } from "@/parts/StateMark";
import { SPANS } from "./filter";

interface Props {
  /** The states there are to choose from. */
  states: readonly string[];
  /** For events: their kind is typed instead. */
  kinds?: boolean;
}

const set = (changes: Record<string, string | null>) => goWith({ ...changes, page: null, before: null });

export function Filters({ states, kinds = false }: Props) {
  const { query } = usePlace();
  const scenes = [...useList<{ name: string }>("scenes").keys()].sort();
  const status = query.get("status") ?? "";
  const shown = status && !states.includes(status) ? [...states, status] : states;
  return (
    <search className="history-filters">
      <Words />
      <label className="history-filter">
        <span>Scene</span>
        <select
          className="select"
          value={query.get("scene") ?? ""}
          onChange={(event) => set({ scene: event.target.value })}
        >
          <option value="">Any scene</option>
          {scenes.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      {kinds ? (
        <Typed name="status" label="Kind" placeholder="taskUpdated, runFinished" />
      ) : (
        <label className="history-filter">
          <span>State</span>
          <select className="select" value={status} onChange={(event) => set({ status: event.target.value })}>
            <option value="">Any state</option>
            {shown.map((state) => (
              <option key={state} value={state}>
                {lookOf(state).word}
              </option>
            ))}
          </select>
        </label>
      )}
      <Span />
      {["text", "scene", "status", "span", "from", "to"].some((name) => query.get(name)) && (
        <button
          type="button"
          className="button ghost"
          onClick={() => set({ text: null, scene: null, status: null, span: null, from: null, to: null })}
        >
          No filters
        </button>
      )}
    </search>
  );
}

function Words() {
  return <Typed name="text" label="Words" placeholder="A name, an id, a reason" search />;
}

interface TypedProps {
  name: string;
  label: string;
  placeholder: string;
  search?: boolean;
}

/** A typed filter goes into the URL a moment after the last key. */
function Typed({ name, label, placeholder, search }: TypedProps) {
  const { query } = usePlace();
  const given = query.get(name) ?? "";
  const [text, setText] = useState(given);
  useEffect(() => setText(given), [given]);
  useEffect(() => {
    if (text === given) return;
    const timer = setTimeout(() => set({ [name]: text }), 250);
    return () => clearTimeout(timer);
  }, [text, given, name]);
  return (
    <label className="history-filter history-words">
      <span>{label}</span>
      <input
        className="input"
        type="search"
        placeholder={placeholder}
        data-search={search ? "" : undefined}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </label>
  );
}

function Span() {
  const { query } = usePlace();
  const own = query.has("from") || query.has("to");
  const [open, setOpen] = useState(own);
  const choose = (value: string) => {
    setOpen(value === "own");
    set({ span: Object.hasOwn(SPANS, value) ? value : null, from: null, to: null });
  };
  return (
    <>
      <label className="history-filter">
        <span>When</span>
        <select
          className="select"
          value={open || own ? "own" : (query.get("span") ?? "")}
          onChange={(event) => choose(event.target.value)}
        >
          <option value="">Any time</option>
          {Object.entries(SPANS).map(([name, { says }]) => (
            <option key={name} value={name}>
              {says}
            </option>
          ))}
          <option value="own">From … to …</option>
        </select>
      </label>
      {(open || own) && (
        <>
          <When name="from" label="From" />
          <When name="to" label="To" />
        </>
      )}
    </>
  );
}

/** A time in the reader's zone; the URL has it exactly. */
export function When({ name, label }: { name: string; label: string }) {
  const { query } = usePlace();
  return (
    <label className="history-filter">
      <span>{label}</span>
      <input
        className="input"
        type="datetime-local"
        value={localOf(query.get(name))}
        onChange={(event) => {
          const time = new Date(event.target.value);
          set({ [name]: Number.isNaN(time.getTime()) ? null : time.toISOString(), span: null });
        }}
      />
    </label>
  );
}

export function localOf(iso: string | null): string {
  const time = iso ? new Date(iso) : null;
  if (time === null || Number.isNaN(time.getTime())) return "";
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
