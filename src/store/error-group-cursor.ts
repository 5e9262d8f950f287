import { PigeonholeError } from "../base/error.js";

/** Where a page of groups begins, those that failed last first. It names no group: ids are digests of messages. */
export interface GroupPlace {
  /** Groups that failed last at this time or before, in milliseconds since 1970. */
  fromAt: number;
  /** Of those that failed last at just this time, so many were listed before. */
  behind: number;
}

/** Throws `invalid_argument` for what is no cursor. */
export function readGroupCursor(cursor: string | undefined): GroupPlace {
  if (cursor === undefined) return { fromAt: Number.MAX_SAFE_INTEGER, behind: 0 };
  const [, fromAt, behind] = /^(\d{1,15})-(\d{1,7})$/.exec(cursor) ?? [];
  if (fromAt !== undefined) return { fromAt: Number(fromAt), behind: Number(behind) };
  throw new PigeonholeError("invalid_argument", "cursor must be the nextCursor of an earlier page.");
}
