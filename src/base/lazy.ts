/** Makes a thing at the first call, and returns the same one later: what is rarely used does not slow down a start. */
export function lazy<Thing extends object>(make: () => Thing): () => Thing {
  let made: Thing | undefined;
  return () => (made ??= make());
}
