/* Without node: imports, since the page uses it too. */

/** Browsers fold such segments away, also as `%2e`; with a `~` in front they do not. */
const DOTS = /^~*\.{1,2}$/;

/** An id as one segment of a path. */
export function writeSegment(id: string): string {
  return encodeURIComponent(DOTS.test(id) ? `~${id}` : id);
}

/** The id of a segment; undefined for one that cannot be read. */
export function readSegment(segment: string): string | undefined {
  try {
    const id = decodeURIComponent(segment);
    return id.startsWith("~") && DOTS.test(id) ? id.slice(1) : id;
  } catch {
    return undefined;
  }
}
