/** The tools that steps call, and the form of a call's arguments. */
import { get, type Schemas } from "@/api/client";
import { useFetched } from "@/live/hooks";
import { inWords, type JsonSchema } from "../Form";
import type { Step } from "./steps";

export type Tool = Schemas["ToolShape"];

export function useTools(): readonly Tool[] {
  return useFetched("tools", (signal) => get("/api/v1/tools", { signal })).value ?? [];
}

/** A tool's schema for these arguments: one that holds a reference to another step's result is edited as text. */
export function formOf(tool: Tool | undefined, args: Step["args"]): JsonSchema {
  const schema = (tool?.inputSchema ?? { type: "object" }) as JsonSchema;
  const properties: Record<string, JsonSchema> = { ...schema.properties };
  for (const [name, value] of Object.entries(args)) {
    const known = properties[name];
    const isReference = typeof value === "string" && value.startsWith("$");
    // Text stays text while the tool's own schema is on its way: the field under somebody's hands is not exchanged.
    const kind = typeof value === "string" ? { type: "string" } : {};
    if (known === undefined && schema.properties === undefined) properties[name] = { ...kind, title: inWords(name) };
    else if (isReference) properties[name] = { type: "string", title: known?.title, description: known?.description };
  }
  return { ...schema, type: "object", properties, title: undefined };
}
