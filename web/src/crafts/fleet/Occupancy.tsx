/** What lies on a worksite as shape, colour and word: the shapes are those of the map. */

const WORDS: Record<string, string> = { empty: "Empty", filled: "Filled", reserved: "Reserved", unknown: "Unknown" };

export const wordOf = (occupancy: string): string => WORDS[occupancy] ?? occupancy;

export function OccupancyMark({ occupancy, under }: { occupancy: string; under?: string }) {
  const lies = occupancy === "reserved" ? (under ?? "unknown") : occupancy;
  return (
    <svg className="mark" width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
      <g className={`floor-lies-${lies}`}>
        <rect x="4.2" y="4.2" width="7.6" height="7.6" rx="1.2" />
      </g>
      {lies === "unknown" && (
        <text x="8" y="10.6" className="floor-doubt">
          ?
        </text>
      )}
      {occupancy === "reserved" && <circle cx="8" cy="8" r="7" className="floor-reserved" />}
    </svg>
  );
}

export function OccupancyWord({ occupancy, under }: { occupancy: string; under?: string }) {
  const word = occupancy === "reserved" ? `Reserved, ${wordOf(under ?? "unknown").toLowerCase()}` : wordOf(occupancy);
  return (
    <span className="state" data-occupancy={occupancy}>
      <OccupancyMark occupancy={occupancy} under={under} />
      {word}
    </span>
  );
}
