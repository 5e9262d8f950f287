import type { ProcessStatus } from "../figures.js";
import type { RunSlotsRequest } from "../run-slots.js";
import type { LeasePage, Store } from "../store.js";
import type { DatabaseClock } from "./database-clock.js";
import type { PostgresTransaction } from "./postgres-transaction.js";

/** A store whose work several processes share. */
export type SharedStore = Store<PostgresTransaction> & Required<Pick<Store, "glance">>;

/**
 * The same store for callers whose times are this machine's: what they pass becomes the database's time, and when
 * something is due becomes theirs. Lists keep the database's times.
 */
export function withDatabaseTimes(store: SharedStore, clock: DatabaseClock): SharedStore {
  const { toDatabase, toMachine, ifAny, withNow, withLease, withEnd } = conversions(clock);
  const pageOf = ({ work, nextDueAt, heldUntil, ...rest }: LeasePage): LeasePage => ({
    ...rest,
    work: work.map((each) => ({
      ...each,
      receivedAt: toMachine(each.receivedAt),
      dueAt: toMachine(each.dueAt),
      ...(each.waitBegan !== undefined && { waitBegan: toMachine(each.waitBegan) }),
    })),
    nextDueAt: ifAny(nextDueAt),
    ...(heldUntil !== undefined && { heldUntil: toMachine(heldUntil) }),
  });

  return {
    ...store,
    accept(event) {
      if (clock.aheadMs === 0) return store.accept(event);
      const work = event.work.map(({ leaseUntil, ...rest }) =>
        leaseUntil === undefined ? rest : { ...rest, leaseUntil: toDatabase(leaseUntil) },
      );
      return store.accept({ ...event, receivedAt: toDatabase(event.receivedAt), work });
    },
    lease: async (request) => pageOf(await store.lease(withLease(request))),
    renew: (leases, leaseUntil) => store.renew(leases, toDatabase(leaseUntil)),
    release: (leases, now) => store.release(leases, toDatabase(now)),
    settle(settlement) {
      if (settlement.to !== "pending" || settlement.wait === undefined) return store.settle(withEnd(settlement));
      const { wait } = settlement;
      return store.settle({ ...withEnd(settlement), wait: { ...wait, began: toDatabase(wait.began) } });
    },
    beginNewest: (lease, of, now) => store.beginNewest(lease, of, toDatabase(now)),
    commit: (given, fn, signal) => store.commit([given].flat().map(withEnd), fn, signal),
    recover: (now) => store.recover(toDatabase(now)),
    glance: (request) => store.glance(withNow(request)),
    restartWaits: (limits) => store.restartWaits(withLease(limits)),
    replan: (plan) => store.replan(withNow(plan)),
    reserveRuns: (request) => reserveRuns(store, request, clock),
    ...figureTimes(store, clock),
    ...contactEventTimes(store, clock),
  };
}

/** By clocks that differ by a little, too many runs could begin. */
async function reserveRuns(store: SharedStore, request: RunSlotsRequest, { exactAheadMs }: DatabaseClock) {
  const { first, count } = await store.reserveRuns({ ...request, now: request.now + exactAheadMs });
  return { first: first - exactAheadMs, count };
}

/** Figures are in the steps of the database's time, so that those of all machines fit together. */
function figureTimes(store: SharedStore, clock: DatabaseClock): Pick<SharedStore, "writeFigures"> {
  const { toDatabase, ifAnyToDatabase, withNow } = conversions(clock);
  const inDatabase = (status: ProcessStatus): ProcessStatus => ({
    ...status,
    startedAt: toDatabase(status.startedAt),
    failureTimes: status.failureTimes.map(toDatabase),
    lastSuccessAt: ifAnyToDatabase(status.lastSuccessAt),
    lastAcceptedAt: ifAnyToDatabase(status.lastAcceptedAt),
    running: status.running.map((run) => ({ ...run, since: toDatabase(run.since) })),
  });
  return {
    writeFigures: ({ status, last, ...write }) =>
      store.writeFigures({ ...withNow(write), status: status && inDatabase(status), last: last && inDatabase(last) }),
  };
}

type OutboxTimes = Pick<SharedStore, "record" | "leaseSend" | "settleSend">;

function contactEventTimes(store: SharedStore, clock: DatabaseClock): OutboxTimes {
  const { toDatabase, ifAny, withLease, withEnd } = conversions(clock);
  return {
    record: (event, now) => store.record(event, toDatabase(now)),
    async leaseSend(request) {
      const { send, nextDueAt } = await store.leaseSend(withLease(request));
      return { send, nextDueAt: ifAny(nextDueAt) };
    },
    settleSend: (settlement) => store.settleSend(withEnd(settlement)),
  };
}

function conversions(clock: DatabaseClock) {
  const toDatabase = (time: number): number => time + clock.aheadMs;
  const toMachine = (time: number): number => time - clock.aheadMs;
  const ifAny = (time: number | undefined): number | undefined => (time === undefined ? undefined : toMachine(time));
  const ifAnyToDatabase = (time: number | undefined): number | undefined =>
    time === undefined ? undefined : toDatabase(time);
  const withNow = <Request extends { now: number }>(request: Request): Request => ({
    ...request,
    now: toDatabase(request.now),
  });
  const withLease = <Request extends { now: number; leaseUntil: number }>(request: Request): Request => ({
    ...withNow(request),
    leaseUntil: toDatabase(request.leaseUntil),
  });
  const withEnd = <End extends { at: number } | { at: number; dueAt: number }>(end: End): End => ({
    ...end,
    at: toDatabase(end.at),
    ...("dueAt" in end ? { dueAt: toDatabase(end.dueAt) } : {}),
  });
  return { toDatabase, toMachine, ifAny, ifAnyToDatabase, withNow, withLease, withEnd };
}
