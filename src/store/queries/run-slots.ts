import { type StoreQuery, readFirst } from "./store-query.js";
import { SECOND } from "../../base/duration.js";

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

/** Times are kept in microseconds, so that many short gaps are not rounded. */
const US = 1_000;

/** Reserves the next slots of a handler, the first of them no earlier than `now`, if they begin soon. */
export function* reserveRuns({ handler, now, gapMs, count }: RunSlotsRequest): StoreQuery<RunSlots> {
  const name = `rate ${handler}`;
  const [at, length] = [Math.round(now * US), Math.ceil(gapMs * count * US)];
  // No process reserves beyond that, so a later time is from a clock that has since been set back.
  const farthest = Math.ceil((3 * RESERVED_AHEAD_MS + gapMs) * US);
  const reserved = yield* readFirst<{ value: number }>(
    `INSERT INTO pigeonhole.inbox_counter AS t (name, value) VALUES (:name, :at::bigint + :length::bigint)
     ON CONFLICT (name) DO UPDATE SET value = :length::bigint +
       CASE WHEN t.value > :latest THEN :restart::bigint ELSE greatest(t.value, :at::bigint) END
     WHERE t.value <= :soon OR t.value > :latest
     RETURNING value`,
    { name, at, length, soon: at + RESERVED_AHEAD_MS * US, restart: at + farthest, latest: at + 2 * farthest },
  );
  if (reserved !== undefined) return { first: (reserved.value - length) / US, count };
  const next = yield* readFirst<{ value: number }>("SELECT value FROM pigeonhole.inbox_counter WHERE name = :name", {
    name,
  });
  return { first: (next?.value ?? at) / US, count: 0 };
}
