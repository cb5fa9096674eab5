/** A change to a text, line by line: what goes is marked with a minus, what comes with a plus. */

export function Diff({ text, label = "The change" }: { text: string; label?: string }) {
  const lines = text.replace(/\n$/, "").split("\n");
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard
    <section className="diff" aria-label={label} tabIndex={0}>
      {lines.map((line, index) => (
        <div key={index} className={`diff-line ${kindOf(line)}`}>
          {line || " "}
        </div>
      ))}
    </section>
  );
}

function kindOf(line: string): string {
  if (line.startsWith("+++") || line.startsWith("---")) return "head";
  if (line.startsWith("@@")) return "place";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "";
}
