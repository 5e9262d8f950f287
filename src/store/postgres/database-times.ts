import type { Store } from "../store.js";
import type { PostgresTransaction } from "./call-with-client.js";
import type { DatabaseClock } from "./database-clock.js";

/** A store whose work several processes share. */
export type SharedStore = Store<PostgresTransaction> & Required<Pick<Store, "glance">>;

/** Fields that have a time of this machine; those of the service and of an envelope are in others. */
const TIMES: ReadonlySet<string> = new Set([
  "now",
  "at",
  "since",
  "began",
  "waitBegan",
  "dueAt",
  "nextDueAt",
  "heldUntil",
  "leaseUntil",
  "receivedAt",
  "startedAt",
  "failureTimes",
  "lastSuccessAt",
  "lastAcceptedAt",
]);

/** The value with its times later by so many milliseconds, at any depth. */
function later<Value>(value: Value, ms: number): Value {
  return ms === 0 ? value : (shift(value, ms, false) as Value);
}

function shift(value: unknown, ms: number, isTime: boolean): unknown {
  if (typeof value === "number") return isTime ? value + ms : value;
  if (Array.isArray(value)) return value.map((item) => shift(item, ms, isTime));
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, shift(of, ms, TIMES.has(name))]));
}

/**
 * The same store for callers whose times are this machine's: what they pass becomes the database's time, and when
 * something is due becomes theirs. Lists keep the database's times, and figures are in its steps, so that those of all
 * machines fit together.
 */
export function withDatabaseTimes(store: SharedStore, clock: DatabaseClock): SharedStore {
  const given = <Value>(value: Value): Value => later(value, clock.aheadMs);
  const answer = <Value>(value: Value): Value => later(value, -clock.aheadMs);
  const at = (time: number): number => time + clock.aheadMs;
  return {
    ...store,
    accept: (event) => store.accept(given(event)),
    lease: async (request) => answer(await store.lease(given(request))),
    renew: (leases, leaseUntil) => store.renew(leases, at(leaseUntil)),
    release: (leases, now) => store.release(leases, at(now)),
    settle: (settlement) => store.settle(given(settlement)),
    beginNewest: (lease, of, now) => store.beginNewest(lease, of, at(now)),
    commit: (settlements, fn, signal) => store.commit(given([settlements].flat()), fn, signal),
    recover: (now) => store.recover(at(now)),
    glance: (request) => store.glance(given(request)),
    restartWaits: (limits) => store.restartWaits(given(limits)),
    replan: (plan) => store.replan(given(plan)),
    /** By clocks that differ by a little, too many runs could begin. */
    async reserveRuns(request) {
      const { exactAheadMs } = clock;
      const { first, count } = await store.reserveRuns({ ...request, now: request.now + exactAheadMs });
      return { first: first - exactAheadMs, count };
    },
    writeFigures: (write) => store.writeFigures(given(write)),
    record: (event, now) => store.record(event, at(now)),
    leaseSend: async (request) => answer(await store.leaseSend(given(request))),
    settleSend: (settlement) => store.settleSend(given(settlement)),
  };
}
