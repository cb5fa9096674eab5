/**
 * A plain text field with line numbers. Tab indents only after Escape has not been pressed: Escape, then Tab leaves the
 * field, so that nobody is caught in it. Lines with problems are marked beside their number.
 */
import { type KeyboardEvent, type Ref, useId, useImperativeHandle, useRef } from "react";

export interface EditorHandle {
  /** Show a line, counted from 0, and put the cursor there. */
  goTo: (line: number) => void;
}

interface Props {
  value: string;
  onChange: (value: string) => void;
  label: string;
  readOnly?: boolean;
  /** What is said of a line, by its number from 0. */
  marks: ReadonlyMap<number, "error" | "warning">;
  ref?: Ref<EditorHandle>;
}

export function Editor({ value, onChange, label, readOnly = false, marks, ref }: Props) {
  const field = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLDivElement>(null);
  const leaving = useRef(false);
  const id = useId();
  const lines = value.split("\n");
  useImperativeHandle(ref, () => ({ goTo: (line) => field.current && goToLine(field.current, line) }), []);
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === "Escape") leaving.current = true;
    else if (event.key === "Tab" && !readOnly && !leaving.current && !event.ctrlKey && !event.altKey) {
      event.preventDefault();
      indent(event.currentTarget, event.shiftKey);
    } else if (event.key !== "Shift" && event.key !== "Tab") leaving.current = false;
  };
  return (
    <div className="scenes-editor">
      <div className="scenes-gutter" ref={gutter} aria-hidden="true">
        {lines.map((_, index) => (
          <div key={index} className={marks.get(index) ?? ""}>
            {index + 1}
          </div>
        ))}
      </div>
      <textarea
        ref={field}
        className="scenes-text"
        aria-label={label}
        aria-describedby={id}
        spellCheck={false}
        autoCapitalize="off"
        autoCorrect="off"
        wrap="off"
        readOnly={readOnly}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={press}
        onBlur={() => {
          leaving.current = false;
        }}
        onScroll={(event) => {
          if (gutter.current) gutter.current.scrollTop = event.currentTarget.scrollTop;
        }}
      />
      <p id={id} className="scenes-keys soft small">
        {readOnly ? (
          "For reading."
        ) : (
          <>
            <kbd>Tab</kbd> indents; <kbd>Esc</kbd> then <kbd>Tab</kbd> leaves the text.
          </>
        )}
      </p>
    </div>
  );
}

function goToLine(field: HTMLTextAreaElement, line: number): void {
  const lines = field.value.split("\n");
  const start = lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0);
  field.focus();
  field.setSelectionRange(start, start + (lines[line]?.length ?? 0));
  const height = field.scrollHeight / Math.max(lines.length, 1);
  field.scrollTop = Math.max(0, line * height - field.clientHeight / 3);
}

/** Two spaces more, or less, on every selected line. `execCommand` is what keeps undo working. */
function indent(field: HTMLTextAreaElement, less: boolean): void {
  const { selectionStart, selectionEnd, value } = field;
  if (selectionStart === selectionEnd && !less) {
    document.execCommand("insertText", false, "  ");
    return;
  }
  const from = value.lastIndexOf("\n", selectionStart - 1) + 1;
  const next = value.indexOf("\n", Math.max(selectionEnd - 1, selectionStart));
  const to = next < 0 ? value.length : next;
  const block = value.slice(from, to).split("\n");
  const after = block.map((line) => (less ? line.replace(/^ {1,2}/, "") : `  ${line}`)).join("\n");
  field.setSelectionRange(from, to);
  document.execCommand("insertText", false, after);
  field.setSelectionRange(from, from + after.length);
}
