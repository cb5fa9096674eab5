/** The right drawer: the details of what is selected. The selection is a part of the URL. */
import { type ReactNode, useEffect, useRef } from "react";
import { Icon } from "./Icon";

export function Drawer({ title, onClose, children }: { title: ReactNode; onClose: () => void; children: ReactNode }) {
  const ref = useRef<HTMLElement>(null);
  useEffect(() => {
    const close = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented && document.querySelector("dialog[open]") === null)
        onClose();
    };
    window.addEventListener("keydown", close);
    return () => window.removeEventListener("keydown", close);
  }, [onClose]);
  return (
    <aside className="drawer" ref={ref} aria-label="Details">
      <header className="row">
        <h2 className="spread">{title}</h2>
        <button type="button" className="button ghost" onClick={onClose} aria-label="Close the details">
          <Icon name="close" />
        </button>
      </header>
      <div className="drawer-body stack">{children}</div>
    </aside>
  );
}
