/** An intent's steps as they are corrected: changed, added, taken away, moved; `after` keeps pointing at the same steps. */
import { blank, type JsonSchema } from "@/parts/Form";

export type Step = Readonly<Record<string, unknown>>;

/** What a step may be: the alternatives of its schema, or the schema itself. */
export function alternatives(schema: JsonSchema): JsonSchema[] {
  return schema.oneOf ?? schema.anyOf ?? [schema];
}

/** The alternative a step is one of, by the fields whose value is fixed. */
export function alternativeOf(schema: JsonSchema, step: Step): JsonSchema | undefined {
  return alternatives(schema).find((one) =>
    Object.entries(one.properties ?? {}).every(
      ([name, field]) => field.const === undefined || field.const === step[name],
    ),
  );
}

/** The alternative without what is fixed in it: what is left to choose. */
export function choices(alternative: JsonSchema): JsonSchema {
  const open = Object.entries(alternative.properties ?? {}).filter(([, field]) => field.const === undefined);
  return { ...alternative, title: undefined, properties: Object.fromEntries(open) };
}

/** A step turned into another kind; names that both have stay. */
export function turnedInto(alternative: JsonSchema, step: Step): Step {
  const fresh = blank(alternative) as Record<string, unknown>;
  const kept: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(alternative.properties ?? {})) {
    if (field.const !== undefined) continue;
    const value = step[name];
    if (value !== undefined && (field.enum === undefined || field.enum.includes(value))) kept[name] = value;
  }
  return withoutGaps({ ...fresh, ...kept, ...(step.after ? { after: step.after } : {}) });
}

export function withoutGaps(step: Step): Step {
  return Object.fromEntries(Object.entries(step).filter(([, value]) => value !== undefined && value !== ""));
}

/** The steps in another order, or fewer of them: `order` holds the places they had. */
function ordered(steps: readonly Step[], order: readonly number[]): Step[] {
  const place = new Map(order.map((was, is) => [was + 1, is + 1]));
  return order.map((was, is) => {
    const step = steps[was] ?? {};
    if (!Array.isArray(step.after)) return step;
    const after = step.after.map((number) => place.get(Number(number))).filter((to) => to !== undefined && to <= is);
    const { after: _, ...rest } = step;
    return after.length > 0 ? { ...rest, after } : rest;
  });
}

export function removed(steps: readonly Step[], at: number): Step[] {
  return ordered(
    steps,
    steps.map((_, index) => index).filter((index) => index !== at),
  );
}

/** A step earlier or later by one place; an order that was said and is now the other way round is dropped. */
export function moved(steps: readonly Step[], at: number, by: -1 | 1): Step[] {
  const order = steps.map((_, index) => index);
  const to = at + by;
  if (to < 0 || to >= order.length) return [...steps];
  [order[at], order[to]] = [order[to] ?? 0, order[at] ?? 0];
  return ordered(steps, order);
}

/** A step in its own values, where the server has not said it in words. */
export function inValues(step: Step): string {
  const told = Object.entries(step).filter(([name]) => name !== "after");
  return told.map(([, value]) => String(value).replaceAll("_", " ")).join(" · ") || "A new step";
}

/** The words with another name in place of one nobody knows: `go to Pos_9`, told of as 9, becomes `go to Pos_3`. */
export function renamed(text: string, was: string, name: string): string {
  const plain = was.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const whole = new RegExp(`(?<![\\w-])${plain}(?![\\w-])`, "i");
  const inside = new RegExp(`[\\w-]*(?:(?<=[a-z_-])|(?<!\\w))${plain}(?![\\w-])`, "i");
  return text.replace(whole.test(text) ? whole : inside, () => name);
}

/** The place of the step that a problem's path is about, such as `steps[2].position`. */
export function placeIn(path: string | undefined): number | null {
  const found = /^steps\[(\d+)\]/.exec(path ?? "");
  return found ? Number(found[1]) : null;
}
