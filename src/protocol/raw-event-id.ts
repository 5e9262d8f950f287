const PREFIX = "raw:";
const RAW_ID = new RegExp(`^${PREFIX}[0-9a-f]{64}$`);

/** The dedup key of a body without an id, by its SHA-256 in hex: the same bytes sent again are the same delivery. */
export function rawEventId(sha256: string): string {
  return `${PREFIX}${sha256}`;
}

/** True for a dedup key that was made of the body's bytes. */
export function isRawEventId(id: string): boolean {
  return RAW_ID.test(id);
}
