/** A scene's document as text to edit: YAML in which whatever fits stands on one line, as scenes are written by hand. */

const WIDE = 110;
const PLAIN = /^[A-Za-z_][\w./-]*(?: [\w./-]+)*$/;
const MEANS_MORE = /^(?:true|false|null)$/i;

export function sceneText(document: object): string {
  return `${blockOf(document, 0)}\n`;
}

function scalar(value: unknown): string {
  if (typeof value === "string" && PLAIN.test(value) && !MEANS_MORE.test(value)) return value;
  return JSON.stringify(value ?? null);
}

function inLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inLine).join(", ")}]`;
  if (typeof value !== "object" || value === null) return scalar(value);
  return `{${fields(value)
    .map(([name, part]) => `${scalar(name)}: ${inLine(part)}`)
    .join(", ")}}`;
}

const fields = (value: object): [string, unknown][] => Object.entries(value).filter(([, part]) => part !== undefined);

/** Parts of the whole stand under each other, however short; of what is inside them only what does not fit. */
function blockOf(value: unknown, depth: number): string {
  const short = inLine(value);
  const room = WIDE - depth * 2;
  const empty = typeof value !== "object" || value === null || Object.keys(value).length === 0;
  if (empty || (depth > 0 && short.length <= room && !isListOfThings(value))) return short;
  const pad = "  ".repeat(depth);
  if (Array.isArray(value)) {
    return value.map((item) => `${pad}- ${blockOf(item, depth + 1).trimStart()}`).join("\n");
  }
  return fields(value as object)
    .map(([name, part]) => {
      const inner = blockOf(part, depth + 1);
      return `${pad}${scalar(name)}:${inner.includes("\n") || inner.startsWith("  ") ? "\n" : " "}${inner}`;
    })
    .join("\n");
}

function isListOfThings(value: unknown): boolean {
  return Array.isArray(value) && value.some((item) => typeof item === "object" && item !== null);
}
