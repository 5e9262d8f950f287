import type { WorkChoice } from "./inbox-view.js";
import type { Lease } from "./work.js";

/** A place among the work that waits for its next run: by handler, crashes of its process, time and event. */
export interface WaitingPlace {
  /** Name of the handler. */
  handler: string;
  /** How many processes died in the work; two stands for more. */
  crashes: number;
  /** When the work is due, in milliseconds since 1970. */
  dueAt: number;
  /** The event, by its place in the order of acceptance. */
  seq: number;
}

/** A small page of {@link InboxOperator.changeWork}. */
export interface RunRequest {
  /** Which work. */
  choice: WorkChoice;
  /** The time of the call, in milliseconds since 1970; work that is due by then does not wait. */
  now: number;
  /** `next` of the page before. */
  from?: WaitingPlace | undefined;
  /** Pieces that the page looks at. @default WAITING_PAGE */
  limit?: number | undefined;
}

export interface RunPage {
  /** What is due now. */
  pieces: Pick<Lease, "seq" | "handler">[];
  /** Undefined on the last page. */
  next: WaitingPlace | undefined;
}

/** Chosen work that waits, which is its own place, and where the search goes on; undefined after the last. */
export interface FoundWaiting {
  pieces: readonly WaitingPlace[];
  next: WaitingPlace | undefined;
}

/** How much work is or was changed, and of how many events. */
export interface RunCounts {
  /** Events that have some of it. */
  events: number;
  /** Pieces of work. */
  work: number;
}

/** Pieces that a page looks at, whether they are chosen or not: deliveries wait for no more. */
export const WAITING_PAGE = 200;
/** Work is found by the number of its crashes, where more count as two. */
const CRASHES = [0, 1, 2];

/** Where the waiting work of a handler begins. */
export function firstWaiting(handler: string | undefined, now: number): WaitingPlace | undefined {
  return handler === undefined ? undefined : { handler, crashes: 0, dueAt: now, seq: Number.MAX_SAFE_INTEGER };
}

/** The place after those of the handler with as many crashes; undefined after the last of the handler. */
export function withMoreCrashes(place: WaitingPlace, now: number): WaitingPlace | undefined {
  const crashes = place.crashes + 1;
  const first = firstWaiting(place.handler, now);
  return first !== undefined && CRASHES.includes(crashes) ? { ...first, crashes } : undefined;
}
