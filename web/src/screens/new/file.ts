/** A file's text as the body of `POST /plans`: JSON as it is, YAML put under `plan` without being read here. */
import type { Written } from "@/api/client";

export function bodyOf(text: string, scene?: string): Pick<Written, "body" | "raw"> {
  const named = scene === undefined ? {} : { scene };
  try {
    return { body: { plan: JSON.parse(text), ...named } };
  } catch {
    return {
      raw: { type: "application/yaml", text: `${under(text)}${scene ? `\nscene: ${JSON.stringify(scene)}` : ""}\n` },
    };
  }
}

/** The document one level deeper; marks of where a document begins and ends have no place there. */
function under(text: string): string {
  const lines = text
    .replace(/^\uFEFF/, "")
    .replaceAll("\r\n", "\n")
    .split("\n");
  const inside = lines.filter((line) => !/^(---|\.\.\.|%)(\s|$)/.test(line)).map((line) => (line ? `  ${line}` : line));
  return `plan:\n${inside.join("\n").replace(/\s+$/, "")}`;
}
