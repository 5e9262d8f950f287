import { MINUTE } from "../../../base/duration.js";
import { CRASH_LOOP } from "../../error-kind.js";
import { type StoreQuery, readFirst, run } from "../../queries/store-query.js";
import { CRASH_LIMIT } from "../../work-state.js";

export interface RecoverInput {
  now: number;
  /** Ends all leases of work: the process that gave them is dead. */
  everything: boolean;
  /** The file was just opened: the process that asks takes it over, or goes on in `epoch`. */
  takeOver: boolean;
  /** That of the process that asks, from an earlier call. */
  epoch: number | undefined;
}

export interface Recovered {
  recovered: number;
  parked: number;
  /** That of the process that asks; undefined once another process has taken the file over. */
  epoch: number | undefined;
}

/** Through the index of open work, which has its first condition in these words. */
const ENDED = `state <> 'done' AND state = 'leased' AND lease_until < :before`;

/** The holder of a lease renews it within this time. */
const RESUMED_LEASE_MS = MINUTE;

const PARK = `
  UPDATE inbox_work
  SET state = 'parked', settled_at = :now, reason = :reason, error = :error, lease = NULL, lease_until = NULL,
    error_type = (SELECT type FROM inbox_event AS e WHERE e.seq = inbox_work.seq), error_group = :errorGroup,
    failed_at = :now
  WHERE ${ENDED} AND started - finished >= :limit`;

const SET_PENDING = `
  UPDATE inbox_work SET state = 'pending', due_at = :now, lease = NULL, lease_until = NULL
  WHERE ${ENDED}`;

const FREE_SENDS = `
  UPDATE outbox_send SET state = 'pending', due_at = :now, lease = NULL, lease_until = NULL
  WHERE state = 'leased' AND lease_until < :before`;

const SHORTEN_SENDS = "UPDATE outbox_send SET lease_until = :until WHERE state = 'leased' AND lease_until > :until";

/**
 * Ends leases without a holder: those that expired, or all of them (`everything`) when this process has just taken over
 * the file. A run that never finished counts as a crash; at {@link CRASH_LIMIT} the work is parked. A call to the API
 * whose answer can no longer arrive here is repeated unchanged.
 */
export function* recoverInFile({ now, everything, takeOver, epoch }: RecoverInput): StoreQuery<Recovered> {
  const known = yield* readEpoch();
  const isOwn = known === epoch;
  const isTakeOver = takeOver && !isOwn;
  const own = isTakeOver ? yield* beginEpoch() : isOwn ? known : undefined;
  // The lease of a call in progress ends early, and the call is repeated under its key: one that was committed and
  // then refused has no holder. Another process that was the owner in between made all calls; work may also be
  // leased to handlers that still run in this process.
  if (takeOver && isOwn) yield* run(SHORTEN_SENDS, { until: now + RESUMED_LEASE_MS });
  const isTaken = everything || (isTakeOver && epoch !== undefined);
  yield* run(FREE_SENDS, { now, before: isTaken ? Number.MAX_SAFE_INTEGER : now });
  const before = everything ? Number.MAX_SAFE_INTEGER : now;
  const parked = yield* run(PARK, { now, before, ...CRASH_LOOP, limit: CRASH_LIMIT });
  return { parked, recovered: yield* run(SET_PENDING, { now, before }), epoch: own };
}

/** Reads how often a process took the file over: a process works on it while that stays as it made it. */
export function* readEpoch(): StoreQuery<number> {
  const row = yield* readFirst<{ value: number }>("SELECT value FROM inbox_counter WHERE name = 'epoch'");
  return row?.value ?? 0;
}

/** Notes a take-over; returns its epoch. */
function* beginEpoch(): StoreQuery<number> {
  yield* run("UPDATE inbox_counter SET value = value + 1 WHERE name = 'epoch'", {});
  return yield* readEpoch();
}
