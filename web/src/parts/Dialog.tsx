/** A question over the page: closes with Escape, keeps the focus inside, gives it back where it was. */
import { createContext, type ReactNode, useContext, useEffect, useId, useRef } from "react";

/** What stays within reach while a dialog covers everything else. */
export const AlwaysContext = createContext<ReactNode>(null);

export function Dialog({
  title,
  onClose,
  children,
  wide = false,
  alone = false,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
  /** Where it is itself what stays within reach. */
  alone?: boolean;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  const always = useContext(AlwaysContext);
  useEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      className={wide ? "dialog wide" : "dialog"}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div className="stack">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
      {!alone && always && <div className="dialog-always">{always}</div>}
    </dialog>
  );
}
