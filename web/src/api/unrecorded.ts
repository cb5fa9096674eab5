/** What was done and is not in the log yet, in the server's words: while a log cannot be written, no event tells of it. */
const EVENT = "beforehand:unrecorded";

/** Tell whoever watches, where an answer says that something of it is not recorded. */
export function tellUnrecorded(answer: unknown): void {
  const said = (answer as { notRecorded?: unknown } | null)?.notRecorded;
  if (Array.isArray(said)) window.dispatchEvent(new CustomEvent(EVENT, { detail: said }));
}

export function onUnrecorded(heard: (said: string[]) => void): () => void {
  const listener = (event: Event) => heard((event as CustomEvent<string[]>).detail);
  window.addEventListener(EVENT, listener);
  return () => window.removeEventListener(EVENT, listener);
}
