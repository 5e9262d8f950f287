import { RESERVED_AHEAD_MS, type RunSlots, type RunSlotsRequest } from "../run-slots.js";
import { type StoreQuery, readFirst } from "./store-query.js";

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
