/** The tokens a canvas draws with, read once for each theme. */
import { token } from "@/frame/theme";
import { lookOf, type Tone } from "@/parts/StateMark";

export interface Colours extends Record<Tone, string> {
  ground: string;
  surface: string;
  sunken: string;
  line: string;
  lineStrong: string;
  ink: string;
  soft: string;
  accent: string;
  pallet: string;
  font: string;
}

export function readColours(): Colours {
  const tone = (name: string) => token(`--${name}`);
  return {
    ground: tone("ground"),
    surface: tone("surface"),
    sunken: tone("sunken"),
    line: tone("line"),
    lineStrong: tone("line-strong"),
    ink: tone("ink"),
    soft: tone("soft"),
    accent: tone("accent"),
    pallet: tone("pallet"),
    good: tone("good"),
    busy: tone("busy"),
    wait: tone("wait"),
    bad: tone("bad"),
    doubt: tone("doubt"),
    held: tone("held"),
    quiet: tone("quiet"),
    font: tone("sans") || "sans-serif",
  };
}

export const colourOf = (colours: Colours, state: string): string => colours[lookOf(state).tone];
