import { PigeonholeError } from "../base/error.js";

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
