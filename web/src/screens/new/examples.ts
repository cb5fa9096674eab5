/** What one could say here: an example in the words of the scenes that are live. */
import { craftOf } from "@/crafts";
import type { SceneRow } from "./reading";

export function exampleFor(rows: readonly SceneRow[]): string {
  const told = rows.map((row) => craftOf(row.kind)?.example).find((example) => example !== undefined);
  return told === undefined ? "" : `Such as: ${told}`;
}
