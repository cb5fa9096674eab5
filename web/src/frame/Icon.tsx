/** The console's own icons: one stroke, one size. */
const PATHS = {
  now: "M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18zM12 7v5l3.5 2",
  inbox: "M4 13l2.5-8h11L20 13v6H4zM4 13h5l1.5 2.5h3L15 13h5",
  new: "M12 5v14M5 12h14",
  floor: "M3 7l6-3 6 3 6-3v13l-6 3-6-3-6 3zM9 4v13M15 7v13",
  arm: "M5 20h8M9 20v-5l-3-4 5-6 5 3 3-1M11 5l1 3M18 6l2 2-2 2",
  scenes: "M4 6h16M4 12h10M4 18h13M18 10l3 2-3 2z",
  ask: "M5 5h14v10h-8l-4 4v-4H5zM10 8.5a2 2 0 1 1 2 2v1M12 13v.01",
  history: "M4 12a8 8 0 1 0 2.5-5.8M4 4v4h4M12 8v4l3 2",
  setup:
    "M12 9a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.1 2.1M16.3 16.3l2.1 2.1M5.6 18.4l2.1-2.1M16.3 7.7l2.1-2.1",
  help: "M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18zM9.5 9.5a2.5 2.5 0 1 1 2.5 3v1.2M12 17v.01",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6L6 18",
  sun: "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5L19 19M5 19l1.5-1.5M17.5 6.5L19 5",
  moon: "M20 14.5A8 8 0 1 1 9.5 4 6.5 6.5 0 0 0 20 14.5z",
  search: "M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM15.5 15.5L20 20",
  hold: "M8 5v14M16 5v14",
  play: "M7 5l12 7-12 7z",
  grip: "M9 6v.01M15 6v.01M9 12v.01M15 12v.01M9 18v.01M15 18v.01",
  full: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  print: "M7 8V4h10v4M7 16H4V8h16v8h-3M7 14h10v6H7z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      className="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
