/** Help: the documentation that ships with the server, with a list of its pages. */
import { useEffect } from "react";
import { get } from "@/api/client";
import { Link, usePlace } from "@/frame/router";
import { useFetched } from "@/live/hooks";
import { Loading, Refused } from "@/parts/Told";
import { type Block, blocksOf, inline } from "./markdown";
import "./help.css";

export default function Help({ named }: { named: Record<string, string> }) {
  const page = named.page ?? "index";
  const list = useFetched("docs", (signal) => get("/api/v1/docs", { signal }));
  const text = useFetched(`docs/${page}`, (signal) => get("/api/v1/docs/{name}", { path: { name: page }, signal }));
  const { hash } = usePlace();
  const ready = text.value !== undefined;
  useEffect(() => {
    if (ready) document.getElementById(decodeURIComponent(hash.slice(1)))?.scrollIntoView();
  }, [ready, hash]);
  return (
    <div className="help">
      <nav aria-label="Pages of the documentation">
        <ul>
          {((list.value ?? []) as { name: string; title: string }[]).map(({ name, title }) => (
            <li key={name}>
              <Link to={`/help/${name}`} className="rail-link" aria-current={name === page ? "page" : undefined}>
                {title}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <article className="help-page">
        {text.refusal && <Refused refusal={text.refusal} />}
        {!ready && !text.refusal && <Loading what="the page" />}
        {ready && blocksOf(markdownOf(text.value)).map((block, index) => <Shown key={index} block={block} />)}
      </article>
    </div>
  );
}

function markdownOf(answer: unknown): string {
  if (typeof answer === "string") return answer;
  const body = answer as { text?: string; markdown?: string };
  return body.text ?? body.markdown ?? "";
}

function Shown({ block }: { block: Block }) {
  if (block.kind === "heading") return <Heading block={block} />;
  if (block.kind === "text") return <p>{inline(block.text)}</p>;
  if (block.kind === "code") {
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard
      <pre className="help-code" tabIndex={0}>
        {block.text}
      </pre>
    );
  }
  if (block.kind === "list") {
    const items = block.items.map((item, index) => <li key={index}>{inline(item)}</li>);
    return block.ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
  }
  return (
    <div className="scroll-x">
      <table className="table">
        <thead>
          <tr>
            {block.head.map((text, index) => (
              <th key={index}>{inline(text)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {block.rows.map((row, index) => (
            <tr key={index}>
              {row.map((text, at) => (
                <td key={at}>{inline(text)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Heading({ block }: { block: Extract<Block, { kind: "heading" }> }) {
  const text = inline(block.text);
  if (block.level === 1) return <h1 id={block.id}>{text}</h1>;
  return block.level === 2 ? <h2 id={block.id}>{text}</h2> : <h3 id={block.id}>{text}</h3>;
}
