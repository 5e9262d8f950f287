import { DAY } from "../base/duration.js";

/** Longest delay of a fault, in milliseconds. */
export const LONGEST_DELAY_MS = 365 * DAY;

/** How far a clock may be moved: the last moment of a JavaScript date, less room for what is planned from there. */
export const LATEST_MS = 8.64e15 - 2 * LONGEST_DELAY_MS;
