/** Spans of time packed into lanes: a lane for each tool, and one more where two of a tool overlap. */
export interface Span {
  key: string;
  stepId: string;
  lane: string;
  label: string;
  state: string;
  startS: number;
  endS: number;
}

export interface Lane {
  name: string;
  spans: Span[];
}

export function inLanes(spans: readonly Span[]): Lane[] {
  const lanes: Lane[] = [];
  const sorted = [...spans].sort((one, other) => one.startS - other.startS || one.endS - other.endS);
  for (const span of sorted) {
    const free = lanes.find((lane) => lane.name === span.lane && (lane.spans.at(-1)?.endS ?? 0) <= span.startS + 1e-6);
    if (free) free.spans.push(span);
    else lanes.push({ name: span.lane, spans: [span] });
  }
  return lanes.sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0));
}
