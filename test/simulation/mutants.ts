import type { PackageChange } from "./package-copy.js";

/** A mistake that could be made in the package. */
export interface Mutant {
  name: string;
  /** The broken promise by which it is found. */
  shows: RegExp;
  /**
   * The first seed that is tried, where the first ones of all show nothing. When the worlds have changed, look for
   * another one from 1 on.
   * @default 1
   */
  from?: number;
  changes: readonly PackageChange[];
}

/** The outcome of a delivery that was stored. */
const TAKEN = '{ kind: "accepted", eventId: "evt", eventType: "email.sent" }';

const change = (file: string, from: string, to: string): PackageChange => ({ file, from, to });

export const MUTANTS: readonly Mutant[] = [
  {
    name: "answers before the commit",
    shows: /answered 2xx and without effect/,
    changes: [
      change(
        "receiver/handle-delivery.js",
        "const result = await dispatcher.accept(",
        `const result = { kind: "stored", seq: 0, leases: [] };
        const stores = dispatcher.accept(`,
      ),
      change(
        "receiver/handle-delivery.js",
        "return outcomeOf(result, { id, delivery, route }, report);",
        `stores.catch(() => undefined);
        return outcomeOf(result, { id, delivery, route }, report);`,
      ),
    ],
  },
  {
    name: "knows duplicates in memory only",
    shows: /effects:/,
    changes: [
      change(
        "store/sqlite/operations/accept.js",
        "return insert(event, crc, token)",
        `const { id } = event;
        if (seen.has(id)) return { duplicate: "same" };
        seen.add(id);
        return insert(stored.get(id) === undefined ? event : { ...event, id: id + "#" + token }, crc, token)`,
      ),
      change(
        "store/sqlite/operations/accept.js",
        "return (event, token) => {",
        `const seen = new Set();
    const stored = db.prepare("SELECT 1 FROM inbox_event WHERE id = ?");
    return (event, token) => {`,
      ),
    ],
  },
  {
    name: "writes the effect and the done mark in two transactions",
    // A settlement that comes after the commit may find its pair gone, and with it the contact events.
    shows: /effects:|recorded and not stored/,
    changes: [
      change(
        "store/sqlite/user-transaction.js",
        'if (settle(settlement) === "lost")',
        // It still asks for its lease, so that only a crash shows the mistake.
        "if (holdsLease.get(leaseOf(settlement)) === undefined)",
      ),
      change(
        "store/sqlite/user-transaction.js",
        "const settle = prepareSettle(db);",
        `const leaseOf = ({ seq, handler, token }) => ({ seq, handler, token });
        const holdsLease = db.prepare(
        "SELECT 1 FROM inbox_work WHERE seq = :seq AND handler = :handler AND state = 'leased' AND lease = :token");`,
      ),
      change(
        "dispatch/run-context.js",
        "this.pendingCommit = this.#deps.store.commit(",
        `const { store } = this.#deps;
        const commit = async (settlements, fn) => {
            await store.commit(settlements, fn);
            for (const settlement of settlements) await store.settle(settlement);
        };
        this.pendingCommit = commit(`,
      ),
    ],
  },
  {
    name: "makes the idempotency key at random when it sends",
    shows: /stored \d+ times/,
    changes: [
      change(
        "outbox/outbox-sender.js",
        "const options = { idempotencyKey: send.key, signal };",
        "const options = { idempotencyKey: crypto.randomUUID(), signal };",
      ),
    ],
  },
  {
    name: "gives a contact event the time of its sending",
    shows: /recorded and not stored|did not come to rest/,
    changes: [
      change(
        "outbox/outbox-sender.js",
        "JSON.parse(body)",
        "({ ...JSON.parse(body), occurredAt: new Date(clock.now()).toISOString() })",
      ),
    ],
  },
  {
    name: "answers 401 while its secret is an old one",
    shows: /the receiver answered 401/,
    changes: [change("protocol/outcome.js", "unverified: { status: 503,", "unverified: { status: 401,")],
  },
  {
    name: "forgets ids after a day",
    shows: /dropped an id too early/,
    changes: [change("receiver/pruner.js", "byDeliveries - retention.idsMs", "now - 24 * HOUR")],
  },
  {
    name: "answers a copy while the first one is still being stored",
    shows: /answered 2xx and without effect/,
    from: 58,
    changes: [
      change(
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
      ),
    ],
  },
  {
    name: "settles without looking at the lease",
    shows: /settled under a lease that another had/,
    from: 75,
    changes: [
      change(
        "store/sqlite/operations/settle.js",
        "AND state = 'leased' AND lease = ?",
        "AND state = 'leased' AND ? IS NOT NULL",
      ),
    ],
  },
  {
    name: "never renews a lease",
    // What is renewed too late counts as a crash, and is parked in the end.
    shows: /twice at once|did not come to rest: \d+ parked/,
    from: 19,
    changes: [change("dispatch/leases.js", "return leases.length === 0 ? []", "return leases.length >= 0 ? []")],
  },
  {
    name: "works on a file that another process works on",
    shows: /twice at once/,
    changes: [
      change("store/sqlite/file-ownership.js", "if (this.#lock !== undefined)", "if (this.#database !== undefined)"),
    ],
  },
  {
    name: "leaves the leases of a dead process as they are",
    shows: /did not come to rest|answered 2xx and without effect/,
    changes: [
      change(
        "store/sqlite/openings.js",
        "const everything = ownership !== undefined && this.epoch === undefined;",
        "const everything = false;",
      ),
    ],
  },
  {
    name: "opens the file with synchronous=NORMAL",
    shows: /answered 2xx and without effect/,
    changes: [
      change("store/sqlite/open-database.js", "synchronous = FULL", "synchronous = NORMAL"),
      change("store/sqlite/open-database.js", "synchronous === 2", "synchronous >= 1"),
    ],
  },
  {
    name: "lets work wait for a time that only a wrong clock knew",
    shows: /did not come to rest: \d+ (?:pending|retrying)/,
    from: 13,
    changes: [
      change(
        "receiver/clock-watch.js",
        "const waits = await store.restartWaits({ now, leaseUntil: now + LEASE_MS });",
        "const waits = 0;",
      ),
    ],
  },
  {
    name: "forgets that a handler is held",
    shows: /leased while its handler is held/,
    changes: [change("store/sqlite/operations/settle.js", "wait_holds = :holds", "wait_holds = NULL")],
  },
  {
    name: "takes the event that came last for the newest",
    shows: /written after a newer one/,
    from: 176,
    changes: [
      change("store/queries/newest.js", "(w.created_at, w.seq) > (:createdAt::bigint, :seq::bigint)", "w.seq > :seq"),
    ],
  },
  {
    name: "settles one event of a batch",
    shows: /written \d+ times by batcher/,
    changes: [
      change(
        "store/sqlite/user-transaction.js",
        "for (const settlement of settlements) {",
        "for (const settlement of settlements.slice(0, 1)) {",
      ),
    ],
  },
  {
    name: "drops ids by its own clock alone",
    shows: /dropped an id too early/,
    from: 9,
    changes: [change("receiver/pruner.js", "byDeliveries - retention.idsMs", "clock.now() - retention.idsMs")],
  },
  {
    name: "believes a clock that moved forward by days",
    shows: /dropped a body too early/,
    from: 11,
    changes: [change("receiver/clock-watch.js", "Math.floor(Math.min(now, ", "Math.floor(Math.max(now, ")],
  },
  {
    name: "answers 200 while the file is busy",
    shows: /answered 2xx and without effect/,
    from: 45,
    changes: [
      change(
        "receiver/handle-delivery.js",
        'return { kind: "store_unavailable", reason: "busy" };',
        `return ${TAKEN};`,
      ),
    ],
  },
  {
    name: "answers 200 while the disk is full",
    shows: /answered 2xx and without effect/,
    from: 54,
    changes: [
      change(
        "receiver/handle-delivery.js",
        'return { kind: "store_unavailable", reason: code === "store_full" ? "full" : "failed" };',
        `return code === "store_full" ? ${TAKEN} : { kind: "store_unavailable", reason: "failed" };`,
      ),
    ],
  },
  {
    name: "answers 200 while it stops",
    shows: /answered 2xx and without effect/,
    from: 77,
    changes: [change("protocol/outcome.js", "stopping: { status: 503,", "stopping: { status: 200,")],
  },
  {
    name: "answers 200 when the time for an answer is over and the commit is not",
    shows: /answered 2xx and without effect/,
    from: 227,
    changes: [
      change(
        "receiver/handle-delivery.js",
        `waiting: admission.waiting });
        return answer({ kind: "overloaded" },`,
        `waiting: admission.waiting });
        return answer(${TAKEN},`,
      ),
    ],
  },
  {
    name: "passes over an event of a history behind each page",
    shows: /not written by the historian/,
    from: 6,
    changes: [
      change("store/queries/history.js", "{ after: last ?? to, through }", "{ after: (last ?? to) + 1, through }"),
    ],
  },
  {
    name: "begins runs of a rate before their time",
    shows: /more than 2 runs in a second/,
    from: 5,
    changes: [
      change("dispatch/gates/rate.js", "return this.#opensAt <= this.#now;", "return this.#opensAt < Infinity;"),
    ],
  },
];
