/** The documentation's Markdown as elements: headings, lists, tables, code, links; what it does not know stays text. */
import { Fragment, type ReactNode } from "react";
import { Link } from "@/frame/router";

export type Block =
  | { kind: "heading"; level: number; text: string; id: string }
  | { kind: "code"; text: string }
  | { kind: "list"; ordered: boolean; items: string[] }
  | { kind: "table"; head: string[]; rows: string[][] }
  | { kind: "text"; text: string };

export function slug(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s-]/gu, "")
    .trim()
    .replaceAll(/\s+/g, "-");
}

export function blocksOf(markdown: string): Block[] {
  const lines = markdown.split("\n");
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const [block, next] = blockAt(lines, at);
    if (block !== null) blocks.push(block);
    at = next;
  }
  return blocks;
}

const ITEM = /^\s*(?:[-*]|\d+\.)\s+/;

function blockAt(lines: readonly string[], at: number): [Block | null, number] {
  const line = lines[at] ?? "";
  if (line.trim() === "") return [null, at + 1];
  const heading = /^(#{1,6})\s+(.*)$/.exec(line);
  if (heading) {
    const text = heading[2] ?? "";
    return [{ kind: "heading", level: heading[1]?.length ?? 1, text, id: slug(text) }, at + 1];
  }
  if (line.trimStart().startsWith("```")) return fenced(lines, at);
  if (/^ {4}/.test(line)) {
    const end = endOf(lines, at, (next) => /^ {4}/.test(next) || next.trim() === "");
    return [
      {
        kind: "code",
        text: lines
          .slice(at, end)
          .map((one) => one.slice(4))
          .join("\n")
          .trimEnd(),
      },
      end,
    ];
  }
  if (line.startsWith("|")) return table(lines, at);
  if (ITEM.test(line)) return list(lines, at);
  const end = endOf(lines, at + 1, (next) => next.trim() !== "" && !/^(#|\||```)/.test(next) && !ITEM.test(next));
  return [{ kind: "text", text: lines.slice(at, end).join(" ") }, end];
}

function endOf(lines: readonly string[], at: number, goesOn: (line: string) => boolean): number {
  let end = at;
  while (end < lines.length && goesOn(lines[end] ?? "")) end += 1;
  return end;
}

function fenced(lines: readonly string[], at: number): [Block, number] {
  const end = endOf(lines, at + 1, (line) => !line.trimStart().startsWith("```"));
  return [{ kind: "code", text: lines.slice(at + 1, end).join("\n") }, end + 1];
}

function columns(line: string): string[] {
  return line
    .trim()
    .replace(/^\||\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((text) => text.trim().replaceAll("\\|", "|"));
}

function table(lines: readonly string[], at: number): [Block, number] {
  const end = endOf(lines, at, (line) => line.startsWith("|"));
  const [head = [], , ...rows] = lines.slice(at, end).map(columns);
  return [{ kind: "table", head, rows }, end];
}

function list(lines: readonly string[], at: number): [Block, number] {
  const end = endOf(lines, at, (line) => ITEM.test(line) || /^\s+\S/.test(line));
  const items: string[] = [];
  for (const line of lines.slice(at, end)) {
    if (ITEM.test(line)) items.push(line.replace(ITEM, ""));
    else items[items.length - 1] += ` ${line.trim()}`;
  }
  return [{ kind: "list", ordered: /^\s*\d/.test(lines[at] ?? ""), items }, end];
}

const INLINE = /(`[^`]+`|\*\*[^*]+\*\*|\*[^\s*](?:[^*]*[^\s*])?\*|!?\[[^\]]*\]\([^)]+\))/;

export function inline(text: string): ReactNode {
  return text.split(INLINE).map((part, index) => <Fragment key={index}>{piece(part)}</Fragment>);
}

function piece(part: string): ReactNode {
  if (part.startsWith("`")) return <code>{part.slice(1, -1)}</code>;
  if (part.startsWith("**")) return <strong>{inline(part.slice(2, -2))}</strong>;
  if (part.length > 2 && part.startsWith("*") && part.endsWith("*")) return <em>{inline(part.slice(1, -1))}</em>;
  const link = /^\[([^\]]*)\]\(([^)]+)\)$/.exec(part);
  if (link) return linked(link[1] ?? "", link[2] ?? "");
  return part.startsWith("![") ? null : part;
}

/** Pages of the documentation lead to each other inside the console. */
function linked(text: string, to: string): ReactNode {
  const page = /^(?:\.\/)?([\w-]+)\.md(#.*)?$/.exec(to);
  if (page) return <Link to={`/help/${page[1]}${page[2] ?? ""}`}>{inline(text)}</Link>;
  if (to.startsWith("#")) return <a href={to}>{inline(text)}</a>;
  return /^https?:/.test(to) ? (
    <a href={to} rel="noreferrer">
      {inline(text)}
    </a>
  ) : (
    text
  );
}
