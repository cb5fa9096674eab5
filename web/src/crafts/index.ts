/** The crafts of the console: a folder and a line each. */
import { addWays } from "@/parts/Ids";
import { addLooks } from "@/parts/StateMark";
import { agent } from "./agent/craft";
import { cell } from "./cell/craft";
import type { CraftPart } from "./craft";
import { drafting } from "./drafting/craft";
import { fleet } from "./fleet/craft";
import { rounds } from "./rounds/craft";

export const CRAFTS: readonly CraftPart[] = [fleet, cell, agent, drafting, rounds];

for (const craft of CRAFTS) {
  addWays(craft.ways ?? {});
  addLooks(craft.looks ?? {});
}

export function craftOf(sceneKind: string): CraftPart | undefined {
  return CRAFTS.find((craft) => craft.sceneKind === sceneKind);
}
