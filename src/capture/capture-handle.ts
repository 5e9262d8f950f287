/* Without node: imports, since the page uses it too. */

const LENGTH = 6;

/**
 * The short name of a capture, as the terminal and the page show it and the commands take it: the last 6 characters of an id
 * that was made here, which tell apart what came in together; the whole of an id that somebody wrote.
 */
export function captureHandle(id: string): string {
  return /^cap_[0-9a-z]{15}$/.test(id) ? id.slice(-LENGTH) : id;
}
