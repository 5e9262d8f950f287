import type { Database } from "better-sqlite3";
import { MINUTE } from "../../../base/duration.js";
import { errorKeyOf } from "../../error-kind.js";
import { CRASH_LIMIT } from "../../work-state.js";
import type { DirectPairs } from "../direct-pairs.js";
import { prepareLater } from "../on-first-use.js";
import { SET_FAILURE } from "./note-failure.js";

export interface RecoverInput {
  now: number;
  /** Ends all leases: the process that gave them is dead. */
  everything: boolean;
  /** Begins an epoch, or continues `epoch`: this process works on the file from now on. */
  takeOver: boolean;
  /** The epoch that an earlier connection of this process had begun. */
  epoch: number | undefined;
}

export interface Recovered {
  recovered: number;
  parked: number;
  /** The epoch of this connection. */
  epoch: number | undefined;
}

/** The holder of a lease renews it within this time. */
const RESUMED_LEASE_MS = MINUTE;

/**
 * Ends leases without a holder: those that expired, or all of them (`everything`) when this process has just taken over
 * the file. A run that never finished counts as a crash; at {@link CRASH_LIMIT} the work is parked. A call to the API
 * whose answer can no longer arrive here is repeated unchanged.
 */
export function prepareRecover(db: Database, pairs: DirectPairs) {
  const park = db.prepare(`
    UPDATE inbox_work
    SET state = 'parked', settled_at = :now, reason = :reason, error = :error, lease = NULL, lease_until = NULL,
      ${SET_FAILURE}
    WHERE state = 'leased' AND lease_until < :before AND started - finished >= :limit`);
  const setPending = db.prepare(`
    UPDATE inbox_work SET state = 'pending', due_at = :now, lease = NULL, lease_until = NULL
    WHERE state = 'leased' AND lease_until < :before`);
  const freeSend = db.prepare(`
    UPDATE outbox_send SET state = 'pending', due_at = :now, lease = NULL, lease_until = NULL
    WHERE state = 'leased' AND lease_until < :before`);
  const shortenSends = prepareLater(db)(
    "UPDATE outbox_send SET lease_until = :until WHERE state = 'leased' AND lease_until > :until",
  );
  const reason = "crash_loop";
  const error = `The process ended ${CRASH_LIMIT} times while this handler ran on this event.`;
  const errorGroup = errorKeyOf({ isParked: true, reason, error });

  return ({ now, everything, takeOver, epoch }: RecoverInput): Recovered => {
    const isResumed = takeOver && epoch !== undefined && pairs.resume(epoch, now + RESUMED_LEASE_MS);
    if (takeOver && !isResumed) pairs.takeOver();
    // A lease that was committed and then refused has no holder. The lease of a call in progress ends early, and the
    // call is repeated under its key.
    if (isResumed) shortenSends().run({ until: now + RESUMED_LEASE_MS });
    pairs.expire(now);
    // Another process was the owner in between. It made all calls; work may also be leased to handlers that still run
    // in this process.
    const isRegained = takeOver && epoch !== undefined && !isResumed;
    freeSend.run({ now, before: everything || isRegained ? Number.MAX_SAFE_INTEGER : now });
    const before = everything ? Number.MAX_SAFE_INTEGER : now;
    const parked = park.run({ now, at: now, before, reason, error, errorGroup, limit: CRASH_LIMIT }).changes;
    return { parked, recovered: setPending.run({ now, before }).changes, epoch: pairs.epoch };
  };
}
