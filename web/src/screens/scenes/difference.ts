/** What changed between two texts, line by line, with a few lines round each change. */

const AROUND = 2;
/** Past this many compared pairs everything between the first and the last change is shown as replaced. */
const TOO_MANY = 4_000_000;

type Line = { sign: " " | "-" | "+"; text: string };

export function difference(before: string, after: string): string {
  if (before === after) return "";
  const lines = compared(before.split("\n"), after.split("\n"));
  const near = lines.map((_, index) =>
    lines.slice(Math.max(0, index - AROUND), index + AROUND + 1).some((line) => line.sign !== " "),
  );
  const told: string[] = [];
  let place = 1;
  for (const [index, line] of lines.entries()) {
    if (near[index]) {
      if (!near[index - 1]) told.push(`@@ line ${place} @@`);
      told.push(line.sign + line.text);
    }
    if (line.sign !== "-") place += 1;
  }
  return told.join("\n");
}

function compared(before: readonly string[], after: readonly string[]): Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end += 1;
  const same = (text: string): Line => ({ sign: " ", text });
  return [
    ...before.slice(0, start).map(same),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ];
}

/** The longest common lines stay; everything else goes or comes. */
function middle(before: readonly string[], after: readonly string[]): Line[] {
  const gone = (text: string): Line => ({ sign: "-", text });
  const come = (text: string): Line => ({ sign: "+", text });
  if (before.length * after.length > TOO_MANY) return [...before.map(gone), ...after.map(come)];
  const wide = after.length + 1;
  const longest = new Uint32Array((before.length + 1) * wide);
  const at = (row: number, column: number) => longest[row * wide + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1)
    for (let column = after.length - 1; column >= 0; column -= 1)
      longest[row * wide + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const lines: Line[] = [];
  let row = 0;
  let column = 0;
  while (row < before.length || column < after.length) {
    const mine = before[row];
    const theirs = after[column];
    if (mine !== undefined && mine === theirs) {
      lines.push({ sign: " ", text: mine });
      row += 1;
      column += 1;
    } else if (mine !== undefined && (theirs === undefined || at(row + 1, column) >= at(row, column + 1))) {
      lines.push(gone(mine));
      row += 1;
    } else {
      lines.push(come(theirs ?? ""));
      column += 1;
    }
  }
  return lines;
}
