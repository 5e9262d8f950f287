/** Where the objects and arrays of a JSON text end, by their number in the order in which they begin. */
export interface ContainerIndex {
  /** Index of the character after the container. */
  ends: readonly number[];
  /** Number of the first container that begins after this one has ended. */
  next: readonly number[];
  /** Members of the container, without those of containers in it. */
  counts: readonly number[];
  /** Most containers in each other. */
  depth: number;
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Goes over a text that is JSON once, so that no part of it must be read to find what comes after it. */
export function indexContainers(text: string): ContainerIndex {
  const ends: number[] = [];
  const next: number[] = [];
  const counts: number[] = [];
  const open: OpenContainer[] = [];
  let current: OpenContainer | undefined;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = (stringEnd(text, at) ?? text.length) - 1;
    else if (code === COMMA && current !== undefined) current.commas += 1;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      current = { number: ends.length, start: at, commas: 0 };
      open.push(current);
      ends.push(0);
      next.push(0);
      counts.push(0);
      depth = Math.max(depth, open.length);
    } else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && current !== undefined) {
      const { number, start, commas } = current;
      ends[number] = at + 1;
      next[number] = ends.length;
      counts[number] = skipSpace(text, start + 1) === at ? 0 : commas + 1;
      open.pop();
      current = open.at(-1);
    }
  }
  return { ends, next, counts, depth };
}

/** A container whose end is not reached. */
interface OpenContainer {
  number: number;
  start: number;
  commas: number;
}

/** Index of the first character that is no white space of JSON. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\n" || text[at] === "\r" || text[at] === "\t") at += 1;
  return at;
}

/**
 * Index of the character after the string that begins at `start`; undefined if it has no end. Without a regular
 * expression, which overflows the stack on a string of megabytes.
 */
export function stringEnd(text: string, start: number): number | undefined {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? undefined : end + 1;
}

/** Whether the character has an odd number of backslashes before it. */
function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
  return (at - before) % 2 === 1;
}
