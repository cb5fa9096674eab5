/** A control that cannot be used says why when it is pressed: a finger and a key have no pointer to rest on its title. */
import { useEffect, useRef, useState } from "react";

const READ_MS = 8_000;

/** Why the control that was pressed does nothing; null where it does something, or has no reason of its own. */
export function whyPressed(target: EventTarget | null): string | null {
  const control = target instanceof Element ? target.closest<HTMLElement>('[aria-disabled="true"]') : null;
  return control?.title || null;
}

export function WhyNot() {
  const [why, setWhy] = useState<string | null>(null);
  const ref = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const press = (event: Event) => {
      clearTimeout(timer);
      setWhy(whyPressed(event.target));
      timer = setTimeout(() => setWhy(null), READ_MS);
    };
    window.addEventListener("click", press, true);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("click", press, true);
    };
  }, []);
  // Over everything, a dialog too; an older browser shows it where it stands.
  useEffect(() => {
    if (why === null) ref.current?.hidePopover?.();
    else ref.current?.showPopover?.();
  }, [why]);
  return (
    <p ref={ref} className="why-not" role="status" popover="manual">
      {why}
    </p>
  );
}
