/** Keys that work everywhere: Ctrl-K, `?`, `/`, `c`, `g` and a letter, `j` and `k` through what can be gone through. */
import { useEffect } from "react";
import { Dialog } from "@/parts/Dialog";
import { go } from "./router";
import { RAIL } from "./screens";

interface Does {
  palette: () => void;
  help: () => void;
}

const TYPING = "input, textarea, select, [contenteditable=true]";

export function useKeys({ palette, help }: Does): void {
  useEffect(() => {
    let afterG = Number.NEGATIVE_INFINITY;
    const press = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        palette();
        return;
      }
      const typing = event.target instanceof Element && event.target.closest(TYPING) !== null;
      if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      const target =
        performance.now() - afterG < 1_500 ? RAIL.find((screen) => screen.rail.key === event.key) : undefined;
      afterG = event.key === "g" ? performance.now() : Number.NEGATIVE_INFINITY;
      if (target) go(target.path);
      else if (event.key === "?") help();
      else if (event.key === "c") go("/new");
      else if (event.key === "/") focusSearch();
      else if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1);
      else return;
      event.preventDefault();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [palette, help]);
}

function focusSearch(): void {
  document.querySelector<HTMLElement>("main [data-search]")?.focus();
}

/** Cards and rows that can be gone through carry `data-step`; Enter follows the link or button that has the focus. */
function step(by: number): void {
  const all = [...document.querySelectorAll<HTMLElement>("main [data-step]")];
  const at = all.findIndex((one) => one === document.activeElement || one.contains(document.activeElement));
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)];
  // What unfolds is focused by its summary.
  (next?.querySelector<HTMLElement>(":scope > summary") ?? next)?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

export function KeysHelp({ onClose }: { onClose: () => void }) {
  const keys: [string, string][] = [
    ["Ctrl K", "Find or do anything"],
    ["c", "New"],
    ["/", "Search in this view"],
    ["j  k", "Next, previous"],
    ["Enter", "Open what is focused"],
    ["Esc", "Close"],
    ...RAIL.map((screen): [string, string] => [`g ${screen.rail.key}`, screen.title]),
    ["?", "These keys"],
  ];
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="keys">
        {keys.map(([key, says]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{says}</dd>
          </div>
        ))}
      </dl>
      <div className="row">
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
