import { SECOND } from "../base/duration.js";

/** No time is reserved earlier than this before a run may begin then: those of a process that ends are lost. */
export const RESERVED_AHEAD_MS = SECOND;

/** A request for the times at which runs of one handler may begin. */
export interface RunSlotsRequest {
  /** Name of the handler. */
  handler: string;
  /** The first begins no earlier, in milliseconds since 1970. */
  now: number;
  /** The time from one to the next, in milliseconds; need not be whole. */
  gapMs: number;
  /** So many. */
  count: number;
}

/** Times at which runs of one handler may begin, each a gap after the one before. No other call gets them. */
export interface RunSlots {
  /** The first of them, in milliseconds since 1970. */
  first: number;
  /** As many as requested; 0 when `first`, the next that is free, is more than a second away: ask again then. */
  count: number;
}
