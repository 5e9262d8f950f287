import type { Capture } from "./capture.js";

/* Without node: imports, since the page uses it too. */

const LENGTH = 6;

/**
 * The short name of a capture, which the terminal and the page show and the commands accept. Of a generated id it is
 * the last 6 characters, which differ for requests that arrive together. An id written by hand stays whole.
 */
export function captureHandle(id: string): string {
  return /^cap_[0-9a-z]{15}$/.test(id) ? id.slice(-LENGTH) : id;
}

/**
 * Whether a word can mean a capture: its short name, with or without `#`; its id or its event's id; or the beginning of
 * an id, also without `cap_`.
 */
export function isNamed({ id, event }: Capture, word: string): boolean {
  return (
    captureHandle(id) === word.replace(/^#/, "") ||
    id.startsWith(word) ||
    id.startsWith(`cap_${word}`) ||
    event.id?.startsWith(word) === true
  );
}
