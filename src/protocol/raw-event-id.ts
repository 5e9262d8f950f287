/** The dedup key of a body without an id, by its SHA-256 in hex: the same bytes sent again are the same delivery. */
export function rawEventId(sha256: string): string {
  return `raw:${sha256}`;
}
