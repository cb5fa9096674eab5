/** Views of one thing, of which one is shown; the arrow keys go from one to the next. */
import { type KeyboardEvent, useRef } from "react";
import { inView } from "../inView";

export function Tabs({
  label,
  views,
  shown,
  onPick,
}: {
  label: string;
  views: readonly [string, string][];
  shown: string;
  onPick: (view: string) => void;
}) {
  const list = useRef<HTMLDivElement>(null);
  const turn = (event: KeyboardEvent) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const at = views.findIndex(([key]) => key === shown);
    const next = (at + by + views.length) % views.length;
    onPick(views[next]?.[0] ?? shown);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[next]?.focus();
  };
  return (
    <div className="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={turn}>
      {views.map(([key, word]) => (
        <button
          key={key}
          type="button"
          role="tab"
          className="tab"
          ref={key === shown ? inView : undefined}
          aria-selected={key === shown}
          tabIndex={key === shown ? 0 : -1}
          onClick={() => onPick(key)}
        >
          {word}
        </button>
      ))}
    </div>
  );
}
