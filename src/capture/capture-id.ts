import { randomBytes } from "node:crypto";

/** Crockford's digits, which sort as they count. */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_DIGITS = 9;
const TAIL_DIGITS = 6;
const TAIL_RANGE = 32 ** TAIL_DIGITS;

let lastTime = -1;
let lastTail = 0;

/** A new capture id: `cap_`, the time in 9 digits, 6 more to tell ids of one millisecond apart, in the order they were made. */
export function makeCaptureId(atMs: number): string {
  const time = Math.max(0, Math.trunc(atMs));
  lastTail = time === lastTime ? (lastTail + 1) % TAIL_RANGE : randomBytes(4).readUInt32BE() % (TAIL_RANGE / 2);
  lastTime = time;
  return `cap_${digits(time, TIME_DIGITS)}${digits(lastTail, TAIL_DIGITS)}`;
}

/** True for what may be the name of a capture's file. */
export function isCaptureId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,100}$/.test(text);
}

function digits(value: number, length: number): string {
  let text = "";
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32)) text = (DIGITS[rest % 32] ?? "") + text;
  return text;
}
