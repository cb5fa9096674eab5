/**
 * The line of a text that a problem's path means, such as `robots[2].link.host`: exact in JSON, by indentation in YAML.
 * Where the path leads further than the text, the last line on the way to it.
 */

export type PathPart = string | number;

export function partsOf(path: string): PathPart[] {
  const found = path.matchAll(/\[(\d+)\]|\["([^"]*)"\]|([^.[\]]+)/g);
  return [...found].map(([, index, quoted, name]) => (index !== undefined ? Number(index) : (quoted ?? name ?? "")));
}

/** The line, counted from 0; null where the problem names no place. */
export function lineOf(text: string, problem: { path?: string; says?: string }): number | null {
  const told = /\bline (\d+)/.exec(problem.says ?? "");
  if (!problem.path) return told ? Number(told[1]) - 1 : null;
  const parts = partsOf(problem.path);
  return /^\s*[{[]/.test(text) ? inJson(text, parts) : inYaml(text, parts);
}

function inJson(text: string, parts: readonly PathPart[]): number {
  const lineAt = (place: number) => text.slice(0, place).split("\n").length - 1;
  const tokens = [...text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)];
  const open: { list: boolean; key: PathPart }[] = [];
  let best = 0;
  let deepest = 0;
  const look = (place: number) => {
    const same = open.every((one, index) => one.key === parts[index]);
    if (same && open.length > deepest && open.length <= parts.length) {
      deepest = open.length;
      best = lineAt(place);
    }
  };
  for (const [index, token] of tokens.entries()) {
    const inside = open.at(-1);
    const said = token[0];
    if (said === "}" || said === "]") open.pop();
    else if (said === ",") {
      if (inside?.list) inside.key = Number(inside.key) + 1;
    } else if (said !== ":") {
      const isKey = inside !== undefined && !inside.list && tokens[index + 1]?.[0] === ":";
      if (isKey && said.startsWith('"')) inside.key = JSON.parse(said) as string;
      if (isKey || inside?.list) look(token.index);
      if (said === "{" || said === "[") open.push({ list: said === "[", key: said === "[" ? 0 : "" });
    }
  }
  return best;
}

function inYaml(text: string, parts: readonly PathPart[]): number {
  const lines = text.split("\n");
  let from = 0;
  let to = lines.length;
  let best = 0;
  for (const part of parts) {
    const found = typeof part === "number" ? itemAt(lines, from, to, part) : keyAt(lines, from, to, part);
    if (found === null) break;
    best = found;
    to = endOf(lines, found, to);
    from = typeof part === "number" ? found : found + 1;
  }
  return best;
}

const indentOf = (line: string) => line.length - line.trimStart().length;
const isBlank = (line: string) => line.trim() === "" || line.trimStart().startsWith("#");

function itemAt(lines: readonly string[], from: number, to: number, wanted: number): number | null {
  let indent: number | null = null;
  let count = -1;
  for (let at = from; at < to; at += 1) {
    const line = lines[at] ?? "";
    if (isBlank(line) || !/^\s*-(\s|$)/.test(line)) continue;
    indent ??= indentOf(line);
    if (indentOf(line) === indent) count += 1;
    if (count === wanted) return at;
  }
  return null;
}

/** A key of the mapping that begins at `from`, where a dash before it counts as its indentation. */
function keyAt(lines: readonly string[], from: number, to: number, key: string): number | null {
  let indent: number | null = null;
  for (let at = from; at < to; at += 1) {
    const line = (lines[at] ?? "").replace(/^(\s*)-(\s)/, "$1 $2");
    if (isBlank(line)) continue;
    indent ??= indentOf(line);
    const name = /^\s*(?:"([^"]*)"|'([^']*)'|([^\s:{[][^:]*)):(\s|$)/.exec(line);
    if (indentOf(line) === indent && (name?.[1] ?? name?.[2] ?? name?.[3]) === key) return at;
  }
  return null;
}

/** Where what begins at a line ends: at the next one that is not further in. */
function endOf(lines: readonly string[], at: number, to: number): number {
  const own = lines[at] ?? "";
  const dash = /^\s*-(\s|$)/.test(own);
  for (let next = at + 1; next < to; next += 1) {
    const line = lines[next] ?? "";
    if (isBlank(line)) continue;
    const sibling = !dash && /^\s*-(\s|$)/.test(line) && indentOf(line) === indentOf(own);
    if (indentOf(line) <= indentOf(own) && !sibling) return next;
  }
  return to;
}
