import type { EventPage, EventQuery } from "./inbox-view.js";
import { hasEnded } from "./state-words.js";
import { PigeonholeError } from "../base/error.js";

/** A list that is looked at by a person, who waits for it. */
export interface PatientEventQuery extends EventQuery {
  /**
   * How long to look for events through all that are stored, in milliseconds; then the page is as it is: it may be
   * short, or empty, and still have a next one. @default until the page is full
   */
  patienceMs?: number | undefined;
}

/** A page that can be left before its end. */
export interface PatientEventPage extends EventPage {
  /** Of each item in turn: goes on behind it, as {@link EventPage.nextCursor} behind the last one. */
  cursors: string[];
}

/** Numbers of events that are looked through at once: from `floor` on, below `before`. */
export interface ListWindow {
  before: number;
  floor: number;
}

const WINDOW = 20_000;

/**
 * The windows in which a list looks for its page, the newest events first; one, with all events, where what it looks
 * for is found by an index. `newest` is read where it is needed.
 */
export function* listWindows(
  query: PatientEventQuery,
  { before, newest }: { before: number; newest: number },
): Generator<ListWindow, void> {
  if (query.patienceMs === undefined || !looksThroughAll(query)) {
    yield { before, floor: 0 };
    return;
  }
  const until = performance.now() + query.patienceMs;
  for (let top = Math.min(before, newest + 1); top > 0; top -= WINDOW) {
    yield { before: top, floor: Math.max(0, top - WINDOW) };
    if (performance.now() >= until) return;
  }
}

/** The cursors of a page; `rows` are those found, one more than the page has if there are more. */
export function cursorsOf(
  rows: readonly { seq: number }[],
  limit: number,
  floor: number,
): Omit<PatientEventPage, "items"> {
  const cursors = rows.slice(0, limit).map(seqCursor);
  if (rows.length > limit) return { cursors, nextCursor: cursors.at(-1) ?? null };
  return { cursors, nextCursor: floor > 0 ? String(floor) : null };
}

/** Unfinished work has indexes; events of a type, of a time, or whose work has ended are looked for in all. */
function looksThroughAll({ state, handler, type, error, since, until, ids, errorGroup }: EventQuery): boolean {
  const isIndexed = ids !== undefined || errorGroup !== undefined || (error !== undefined && state !== "discarded");
  if (isIndexed || (state !== undefined && !hasEnded(state))) return false;
  return [state, handler, type, since, until].some((value) => value !== undefined);
}

/** Throws `invalid_argument` for a state that is not one of these. */
export function checkState(state: string, states: readonly string[]): void {
  if (states.includes(state)) return;
  throw new PigeonholeError("invalid_argument", `state must be one of ${states.join(", ")}, got "${state}".`);
}

/** The row number before which a page begins, newest first. */
export function readSeqCursor(cursor: string | null | undefined): number {
  if (cursor === undefined || cursor === null) return Number.MAX_SAFE_INTEGER;
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw new PigeonholeError("invalid_argument", "cursor must be the nextCursor of an earlier page.");
}

/** The cursor of the page behind a row: {@link readSeqCursor} reads it. */
export function seqCursor({ seq }: { seq: number }): string {
  return String(seq);
}
