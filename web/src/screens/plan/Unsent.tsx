/** Those that waited for an edit that was refused. */
export function Unsent({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <p>
      {count === 1 ? "The edit pressed after it was not sent." : `The ${count} edits pressed after it were not sent.`}
    </p>
  );
}
