import { isoTime } from "../../base/iso-time.js";
import type { RepairClaim, RepairRound, RepairRounds } from "../repair-rounds.js";
import { type StoreQuery, readFirst, readRows, run } from "./store-query.js";

type At<Method extends keyof RepairRounds> = Parameters<RepairRounds[Method]>[0] & { now: number };

/** A due time that is further ahead than this claim is of a clock that was ahead. */
export function* claimRepair({ endpointId, forMs, now }: At<"claimRepair">): StoreQuery<RepairClaim> {
  const claimed = yield* run(
    `INSERT INTO pigeonhole.inbox_repair AS r (endpoint, due_at) VALUES (:endpointId, :dueAt)
     ON CONFLICT (endpoint) DO UPDATE SET due_at = excluded.due_at
       WHERE r.due_at <= :now OR r.due_at > excluded.due_at`,
    { endpointId, now: Math.floor(now), dueAt: Math.floor(now + forMs) },
  );
  const row = yield* readFirst<{ dueAt: number; comparedUntil: number | null }>(
    `SELECT due_at AS "dueAt", compared_until AS "comparedUntil" FROM pigeonhole.inbox_repair
     WHERE endpoint = :endpointId`,
    { endpointId },
  );
  const { dueAt = now, comparedUntil } = row ?? {};
  return { isClaimed: claimed === 1, dueInMs: dueAt - now, comparedUntil: comparedUntil ?? undefined };
}

export function endRepair({ dueInMs, comparedUntil, now, ...round }: At<"endRepair">): StoreQuery<number> {
  return run(
    `UPDATE pigeonhole.inbox_repair SET due_at = :dueAt, compared_until = coalesce(:comparedUntil, compared_until),
       ended_at = :endedAt, missing = :missing, replayed = :replayed, still_missing = :stillMissing, refused = :refused
     WHERE endpoint = :endpointId`,
    { ...round, comparedUntil: comparedUntil ?? null, dueAt: Math.floor(now + dueInMs), endedAt: Math.floor(now) },
  );
}

/** The last round of each endpoint, the newest first. */
export function* listRepairs(): StoreQuery<RepairRound[]> {
  const rows = yield* readRows<Omit<RepairRound, "at"> & { at: number }>(
    `SELECT endpoint AS "endpointId", ended_at AS at, missing, replayed, still_missing AS "stillMissing", refused
     FROM pigeonhole.inbox_repair WHERE ended_at IS NOT NULL ORDER BY ended_at DESC, endpoint`,
  );
  return rows.map((row) => ({ ...row, at: isoTime(row.at) }));
}
