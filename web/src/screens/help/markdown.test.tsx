import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { blocksOf, inline, slug } from "./markdown";

describe("the documentation's Markdown", () => {
  it("is read into its blocks", () => {
    const text =
      "# Title\n\nSome text\nin two lines.\n\n- one\n  goes on\n- two\n\n```sh\nls\n```\n\n| a | b |\n|---|---|\n| 1 | x \\| y |\n\n    code\n";
    expect(blocksOf(text)).toEqual([
      { kind: "heading", level: 1, text: "Title", id: "title" },
      { kind: "text", text: "Some text in two lines." },
      { kind: "list", ordered: false, items: ["one goes on", "two"] },
      { kind: "code", text: "ls" },
      { kind: "table", head: ["a", "b"], rows: [["1", "x | y"]] },
      { kind: "code", text: "code" },
    ]);
  });

  it("is stressed where it is written so, and a star by itself stays", () => {
    const shown = renderToStaticMarkup(<p>{inline("*Hold all* and **Live**, 2 * 3 * 4, `a*b*c`")}</p>);
    expect(shown).toBe("<p><em>Hold all</em> and <strong>Live</strong>, 2 * 3 * 4, <code>a*b*c</code></p>");
  });

  it("makes the same anchors as the pages link to", () => {
    expect(slug("What `make run` does, and why")).toBe("what-make-run-does-and-why");
  });
});
