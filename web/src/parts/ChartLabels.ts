/** The names under a chart: without the day they all share, and no more of them than there is room for. */

const DAY = /^\d{4}-\d\d-\d\d (?=\d)/;
const LETTER_PX = 7.5;
const GAP_PX = 14;
const AXIS_PX = 64;

/** Times of one day are told by their hour alone; long names are cut. */
export function shortLabels(labels: readonly string[]): string[] {
  const day = DAY.exec(labels[0] ?? "")?.[0];
  const shared = day !== undefined && labels.every((label) => label.startsWith(day));
  return labels.map((label) => {
    const text = shared ? label.slice(day.length) : label;
    return text.length > 18 ? `${text.slice(0, 17)}…` : text;
  });
}

/** The places whose names are shown: every one, or every second, third …, so that none covers another. */
export function shownEvery(labels: readonly string[], widthPx: number): number[] {
  const longest = Math.max(1, ...labels.map((label) => label.length)) * LETTER_PX + GAP_PX;
  const room = Math.max(1, Math.floor((widthPx - AXIS_PX) / longest));
  const step = Math.ceil(labels.length / room);
  return labels.map((_, index) => index).filter((index) => index % step === 0);
}
