/** The files that scenes name, joined with who names them; what a scene names and nobody has kept is among them. */
import { get, type Schemas } from "@/api/client";
import { type Fetched, useFetched } from "@/live/hooks";

export type Kept = Schemas["SceneFileHeadShape"];
export type Use = Schemas["SceneFileUseShape"];

export interface Line {
  name: string;
  /** Undefined where no such file is kept. */
  kept: Kept | undefined;
  /** The scenes that name it. */
  scenes: string[];
}

/** A line for every name; of one scene only what it names. */
export function linesOf(files: readonly Kept[], uses: readonly Use[], scene?: string): Line[] {
  const named = (name: string) => uses.filter((use) => use.files.some((file) => file.name === name));
  const wanted = uses.filter((use) => scene === undefined || use.scene === scene);
  const said = wanted.flatMap((use) => use.files.map((file) => file.name));
  const names = new Set(scene === undefined ? [...files.map((file) => file.name), ...said] : said);
  return [...names].sort().map((name) => ({
    name,
    kept: files.find((file) => file.name === name),
    scenes: named(name).map((use) => use.scene),
  }));
}

const CONCERNS = new Set(["sceneFileSaved", "sceneSaved"]);

export function useFiles(): Fetched<{ files: Kept[]; uses: Use[] }> {
  return useFetched(
    "files",
    async (signal) => {
      const [files, uses] = await Promise.all([
        get("/api/v1/files", { signal }),
        get("/api/v1/files/uses", { signal }),
      ]);
      return { files, uses };
    },
    (event) => CONCERNS.has(event.kind),
  );
}

/** What scenes would call a file that is called so on a disk: its folder goes by its ending. */
export function nameFor(fileName: string): string {
  const plain = fileName.replaceAll(/[^\w.-]+/g, "_");
  return plain.toLowerCase().endsWith(".plt") ? `plt/${plain}` : `fork/${plain}`;
}

export const size = (bytes: number): string => (bytes < 1024 ? `${bytes} bytes` : `${(bytes / 1024).toFixed(1)} KiB`);
