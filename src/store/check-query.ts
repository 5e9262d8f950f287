import { PigeonholeError } from "../base/error.js";

/** Throws `invalid_argument` for a state that is not one of these. */
export function checkState(state: string, states: readonly string[]): void {
  if (states.includes(state)) return;
  throw new PigeonholeError("invalid_argument", `state must be one of ${states.join(", ")}, got "${state}".`);
}

/** The row number before which a page begins, newest first. */
export function readSeqCursor(cursor: string | undefined): number {
  if (cursor === undefined) return Number.MAX_SAFE_INTEGER;
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw new PigeonholeError("invalid_argument", "cursor must be the nextCursor of an earlier page.");
}

/** The cursor of the page behind a row: {@link readSeqCursor} reads it. */
export function seqCursor({ seq }: { seq: number }): string {
  return String(seq);
}

/** A row as the database gives it: null where ours is undefined. */
export type Nullable<Row> = { [Column in keyof Row]: Exclude<Row[Column], undefined> | null };

/** The same row with undefined for null. */
export function withoutNulls<Row extends object>(row: { [Column in keyof Row]: Row[Column] | null }): Row {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, value ?? undefined])) as Row;
}
