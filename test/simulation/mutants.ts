import { type Change, toPackageChange } from "../store/mutants-of.js";
import type { ChangedPackage } from "./package-copy.js";

/** A mistake that could be made in the package. */
export interface Mutant extends ChangedPackage {
  /** The broken promise by which it is found. */
  shows: RegExp;
  /**
   * The first seed that is tried, where the first ones of all show nothing. When the worlds have changed, look for
   * another one from 1 on.
   */
  from: number;
}

/** The outcome of a delivery that was stored. */
const TAKEN = '{ kind: "accepted", eventId: "evt", eventType: "email.sent" }';

/** By what each does: how it shows, from which seed on, and its changes. */
const MISTAKES: Readonly<Record<string, readonly [shows: RegExp, from: number, ...changes: Change[]]>> = {
  "answers before the commit": [
    /answered 2xx and without effect/,
    1,
    [
      "receiver/handle-delivery.js",
      "const result = await dispatcher.accept(",
      `const result = { kind: "stored", seq: 0, leases: [] };
        const stores = dispatcher.accept(`,
    ],
    [
      "receiver/handle-delivery.js",
      "return outcomeOf(result, { id, delivery, route }, report);",
      `stores.catch(() => undefined);
        return outcomeOf(result, { id, delivery, route }, report);`,
    ],
  ],
  "knows duplicates in memory only": [
    /effects:/,
    1,
    [
      "store/sqlite/operations/accept.js",
      "return insert(event, crc, token)",
      `const { id } = event;
        if (seen.has(id)) return { duplicate: "same" };
        seen.add(id);
        return insert(stored.get(id) === undefined ? event : { ...event, id: id + "#" + token }, crc, token)`,
    ],
    [
      "store/sqlite/operations/accept.js",
      "return (event, token) => {",
      `const seen = new Set();
    const stored = db.prepare("SELECT 1 FROM inbox_event WHERE id = ?");
    return (event, token) => {`,
    ],
  ],
  "writes the effect and the done mark in two transactions": [
    // A settlement that comes after the commit may find its pair gone, and with it the contact events.
    /effects:|recorded and not stored/,
    1,
    [
      "store/sqlite/user-transaction.js",
      'if (settle(settlement) === "lost")',
      // It still asks for its lease, so that only a crash shows the mistake.
      "if (holdsLease.get(leaseOf(settlement)) === undefined)",
    ],
    [
      "store/sqlite/user-transaction.js",
      "const settle = prepareSettle(db);",
      `const leaseOf = ({ seq, handler, token }) => ({ seq, handler, token });
        const holdsLease = db.prepare(
        "SELECT 1 FROM inbox_work WHERE seq = :seq AND handler = :handler AND state = 'leased' AND lease = :token");`,
    ],
    [
      "dispatch/run-context.js",
      "this.pendingCommit = this.#deps.store.commit(",
      `const { store } = this.#deps;
        const commit = async (settlements, fn) => {
            await store.commit(settlements, fn);
            for (const settlement of settlements) await store.settle(settlement);
        };
        this.pendingCommit = commit(`,
    ],
  ],
  "makes the idempotency key at random when it sends": [
    /stored \d+ times/,
    1,
    [
      "outbox/outbox-sender.js",
      "const options = { idempotencyKey: send.key, signal };",
      "const options = { idempotencyKey: crypto.randomUUID(), signal };",
    ],
  ],
  "gives a contact event the time of its sending": [
    /recorded and not stored|did not come to rest/,
    1,
    [
      "outbox/outbox-sender.js",
      "JSON.parse(body)",
      "({ ...JSON.parse(body), occurredAt: new Date(clock.now()).toISOString() })",
    ],
  ],
  "answers 401 while its secret is an old one": [
    /the receiver answered 401/,
    1,
    ["protocol/outcome.js", "unverified: { status: 503,", "unverified: { status: 401,"],
  ],
  "forgets ids after a day": [
    /dropped an id too early/,
    1,
    ["receiver/pruner.js", "byDeliveries - retention.idsMs", "now - 24 * HOUR"],
  ],
  "answers a copy while the first one is still being stored": [
    /answered 2xx and without effect/,
    58,
    [
      "dispatch/dispatcher.js",
      "result = await this.#deps.store.accept(event);",
      // In memory that dies with the process.
      `const underWay = (this.underWay ??= new Set());
            if (underWay.has(event.id)) result = { kind: "duplicate", otherBytes: false };
            else {
                underWay.add(event.id);
                try {
                    result = await this.#deps.store.accept(event);
                } finally {
                    underWay.delete(event.id);
                }
            }`,
    ],
  ],
  "settles without looking at the lease": [
    /settled under a lease that another had/,
    75,
    [
      "store/sqlite/operations/settle.js",
      "AND state = 'leased' AND lease = ?",
      "AND state = 'leased' AND ? IS NOT NULL",
    ],
  ],
  "never renews a lease": [
    // What is renewed too late counts as a crash, and is parked in the end.
    /twice at once|did not come to rest: \d+ parked/,
    19,
    ["dispatch/handler-worker.js", "if (leases.length === 0)", "if (leases.length >= 0)"],
  ],
  "works on a file that another process works on": [
    /twice at once/,
    1,
    ["store/sqlite/file-ownership.js", "if (this.#lock !== undefined)", "if (this.#database !== undefined)"],
  ],
  "leaves the leases of a dead process as they are": [
    /did not come to rest|answered 2xx and without effect/,
    1,
    [
      "store/sqlite/openings.js",
      "const everything = ownership !== undefined && this.epoch === undefined;",
      "const everything = false;",
    ],
  ],
  "opens the file with synchronous=NORMAL": [
    /answered 2xx and without effect/,
    1,
    ["store/sqlite/open-database.js", "synchronous = FULL", "synchronous = NORMAL"],
    ["store/sqlite/open-database.js", "synchronous === 2", "synchronous >= 1"],
  ],
  "lets work wait for a time that only a wrong clock knew": [
    /did not come to rest: \d+ (?:pending|retrying)/,
    13,
    [
      "receiver/clock-watch.js",
      "const waits = await store.restartWaits({ now, leaseUntil: now + LEASE_MS });",
      "const waits = 0;",
    ],
  ],
  "forgets that a handler is held": [
    /leased while its handler is held/,
    1,
    ["store/sqlite/operations/settle.js", "wait_holds = :holds", "wait_holds = NULL"],
  ],
  "takes the event that came last for the newest": [
    /written after a newer one/,
    176,
    ["store/queries/newest.js", "(w.created_at, w.seq) > (:createdAt::bigint, :seq::bigint)", "w.seq > :seq"],
  ],
  "settles one event of a batch": [
    /written \d+ times by batcher/,
    1,
    [
      "store/sqlite/user-transaction.js",
      "for (const settlement of settlements) {",
      "for (const settlement of settlements.slice(0, 1)) {",
    ],
  ],
  "drops ids by its own clock alone": [
    /dropped an id too early/,
    9,
    ["receiver/pruner.js", "byDeliveries - retention.idsMs", "clock.now() - retention.idsMs"],
  ],
  "believes a clock that moved forward by days": [
    /dropped a body too early/,
    11,
    ["receiver/clock-watch.js", "Math.floor(Math.min(now, ", "Math.floor(Math.max(now, "],
  ],
  "answers 200 while the file is busy": [
    /answered 2xx and without effect/,
    45,
    ["receiver/handle-delivery.js", 'return { kind: "store_unavailable", reason: "busy" };', `return ${TAKEN};`],
  ],
  "answers 200 while the disk is full": [
    /answered 2xx and without effect/,
    54,
    [
      "receiver/handle-delivery.js",
      'return { kind: "store_unavailable", reason: code === "store_full" ? "full" : "failed" };',
      `return code === "store_full" ? ${TAKEN} : { kind: "store_unavailable", reason: "failed" };`,
    ],
  ],
  "answers 200 while it stops": [
    /answered 2xx and without effect/,
    77,
    ["protocol/outcome.js", "stopping: { status: 503,", "stopping: { status: 200,"],
  ],
  "answers 200 when the time for an answer is over and the commit is not": [
    /answered 2xx and without effect/,
    227,
    [
      "receiver/handle-delivery.js",
      `waiting: admission.waiting });
        return answer({ kind: "overloaded" },`,
      `waiting: admission.waiting });
        return answer(${TAKEN},`,
    ],
  ],
  "passes over an event of a history behind each page": [
    /not written by the historian/,
    6,
    ["store/queries/history.js", "{ after: last ?? to, through }", "{ after: (last ?? to) + 1, through }"],
  ],
  "begins runs of a rate before their time": [
    /more than 2 runs in a second/,
    5,
    ["dispatch/gates/rate.js", "return this.#opensAt <= this.#now;", "return this.#opensAt < Infinity;"],
  ],
};

export const MUTANTS: readonly Mutant[] = Object.entries(MISTAKES).map(([name, [shows, from, ...changes]]) => ({
  name,
  shows,
  from,
  changes: changes.map(toPackageChange),
}));
