import { randomBytes } from "node:crypto";
import { isoTime } from "../../base/iso-time.js";
import type { PausedHandler, StoredHandler } from "../paused-handlers.js";
import type { HandlerPolicy } from "../store.js";
import { type StoreQuery, readFirst, readRows, run } from "./store-query.js";

/** The paused handlers, in the order of their names. */
export function* listPaused(): StoreQuery<PausedHandler[]> {
  const select = "SELECT handler, since, paused_by AS by FROM pigeonhole.inbox_paused ORDER BY handler";
  const rows = yield* readRows<Omit<PausedHandler, "since"> & { since: number }>(select);
  return rows.map((row) => ({ ...row, since: isoTime(row.since) }));
}

/** False when the handler was paused already. */
export function* pauseHandler(paused: { handler: string; by: string; since: number }): StoreQuery<boolean> {
  const added = yield* run(
    `INSERT INTO pigeonhole.inbox_paused (handler, since, paused_by) VALUES (:handler, :since, :by)
     ON CONFLICT DO NOTHING`,
    paused,
  );
  return added === 1;
}

/** False when the handler was not paused. */
export function* resumeHandler(handler: string): StoreQuery<boolean> {
  return (yield* run("DELETE FROM pigeonhole.inbox_paused WHERE handler = :handler", { handler })) === 1;
}

/**
 * Names of the handlers that have work in a group of errors: each is found with one search in the index. The empty name
 * stands for events that were not understood.
 */
function* listFailed(): StoreQuery<string[]> {
  const after = (name: string): string => `
    SELECT min(w.handler) FROM pigeonhole.inbox_work AS w WHERE w.failed_at IS NOT NULL AND w.handler > ${name}`;
  const found = yield* readRows<{ handler: string }>(`
    WITH RECURSIVE h (handler) AS (
      SELECT (${after("''")}) UNION ALL SELECT (${after("h.handler")}) FROM h WHERE h.handler IS NOT NULL
    ) SELECT handler FROM h WHERE handler IS NOT NULL`);
  return found.map(({ handler }) => handler);
}

/** The handlers that receivers have had, that have failed work, or that are paused. */
export function* listHandlers(): StoreQuery<StoredHandler[]> {
  const kept = yield* listPolicies();
  const attempts = new Map(kept.map(({ handler, maxAttempts }) => [handler, maxAttempts]));
  const failed = new Set(yield* listFailed());
  const paused = new Map((yield* listPaused()).map((each) => [each.handler, each]));
  const names = new Set([...attempts.keys(), ...failed, ...paused.keys()]);
  return [...names].toSorted().map((handler) => {
    const pause = paused.get(handler);
    return {
      handler,
      maxAttempts: attempts.get(handler) ?? null,
      hasFailed: failed.has(handler),
      paused: pause === undefined ? null : { since: pause.since, by: pause.by },
    };
  });
}

/** What receivers have kept of their handlers. */
export function* listPolicies(): StoreQuery<HandlerPolicy[]> {
  const rows = yield* readRows<Omit<HandlerPolicy, "types"> & { types: string }>(
    `SELECT handler, max_attempts AS "maxAttempts", types FROM pigeonhole.inbox_handler ORDER BY handler`,
  );
  return rows.map(({ types, ...rest }) => ({ ...rest, types: JSON.parse(types) as string[] }));
}

/** Keeps policies. Those that stay the same are not written, so that most starts write nothing. */
export function* writePolicies(policies: readonly HandlerPolicy[]): StoreQuery<void> {
  // In one order, so that two processes do not wait for each other.
  for (const policy of policies.toSorted((a, b) => (a.handler < b.handler ? -1 : 1))) {
    yield* run(
      `INSERT INTO pigeonhole.inbox_handler AS h (handler, max_attempts, types) VALUES (:handler, :maxAttempts, :types)
       ON CONFLICT (handler) DO UPDATE SET max_attempts = excluded.max_attempts, types = excluded.types
         WHERE h.max_attempts <> excluded.max_attempts OR h.types <> excluded.types`,
      { ...policy, types: JSON.stringify(policy.types) },
    );
  }
}

const SECRET_BYTES = 32;

/** Of two processes that ask at once, one makes it; the other waits for it and reads the same. */
export function* dashboardSecret(): StoreQuery<Uint8Array> {
  const name = "dashboard";
  const select = "SELECT value FROM pigeonhole.inbox_secret WHERE name = :name";
  const known = yield* readFirst<{ value: Uint8Array }>(select, { name });
  if (known !== undefined) return known.value;
  yield* run("INSERT INTO pigeonhole.inbox_secret (name, value) VALUES (:name, :value) ON CONFLICT DO NOTHING", {
    name,
    value: randomBytes(SECRET_BYTES),
  });
  const made = yield* readFirst<{ value: Uint8Array }>(select, { name });
  return made?.value ?? (yield* dashboardSecret());
}
