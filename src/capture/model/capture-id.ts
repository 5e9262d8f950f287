import { randomBytes } from "node:crypto";

/** Crockford's base 32 digits, which sort by value. */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_DIGITS = 9;
const TAIL_DIGITS = 6;
const TAIL_RANGE = 32 ** TAIL_DIGITS;

let lastTime = -1;
let lastTail = 0;

/**
 * A new capture id: `cap_`, the time in 9 digits, and 6 more digits, which keep ids of one millisecond distinct and in
 * order.
 */
export function makeCaptureId(atMs: number): string {
  const time = Math.max(0, Math.trunc(atMs));
  lastTail = time === lastTime ? (lastTail + 1) % TAIL_RANGE : randomBytes(4).readUInt32BE() % (TAIL_RANGE / 2);
  lastTime = time;
  return `cap_${digits(time, TIME_DIGITS)}${digits(lastTail, TAIL_DIGITS)}`;
}

/** True for an id that is safe as a file name. */
export function isCaptureId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,100}$/.test(text);
}

function digits(value: number, length: number): string {
  let text = "";
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32)) text = (DIGITS[rest % 32] ?? "") + text;
  return text;
}
