import type { Capture } from "./capture.js";

/* Without node: imports, since the page uses it too. */

const LENGTH = 6;

/**
 * The short name of a capture, as the terminal and the page show it and the commands take it: the last 6 characters of an id
 * that was made here, which tell apart what came in together; the whole of an id that somebody wrote.
 */
export function captureHandle(id: string): string {
  return /^cap_[0-9a-z]{15}$/.test(id) ? id.slice(-LENGTH) : id;
}

/**
 * Whether a word can mean a capture: its short name, with or without `#`; its id or its event's; or the beginning of one, also
 * without `cap_`.
 */
export function isNamed({ id, event }: Capture, word: string): boolean {
  return (
    captureHandle(id) === word.replace(/^#/, "") ||
    id.startsWith(word) ||
    id.startsWith(`cap_${word}`) ||
    event.id?.startsWith(word) === true
  );
}
