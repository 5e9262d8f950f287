import { DAY } from "../base/duration.js";

/** Longest delay of a fault, in milliseconds. */
export const MAX_DELAY_MS = 365 * DAY;

/** Latest time of a clock: the last moment of a JavaScript date, minus the longest delay that is planned from there. */
export const LATEST_TIME = 8.64e15 - 2 * MAX_DELAY_MS;
