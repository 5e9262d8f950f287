import type { PackageChange } from "../../simulation/package-copy.js";
import { TWIN_MUTANTS } from "./twin-mutants.js";

/** A mistake that could be made in the store on PostgreSQL. */
export interface PostgresMutant {
  name: string;
  /** A scenario that it breaks, where the model of a store sees nothing of it. */
  shownBy?: string;
  changes: readonly PackageChange[];
}

const ROOM = "store/postgres";
const ACCEPT = `${ROOM}/operations/store-events.js`;
const LEASE = `${ROOM}/operations/lease.js`;
const RECOVER = `${ROOM}/operations/recover.js`;
const BATCHES = `${ROOM}/create-batches.js`;
const KEYS = `${ROOM}/operations/keys.js`;
const COMMIT = `${ROOM}/commit-on-pool.js`;
const CALLS = "store/queries/outbox-calls.js";

const change = (file: string, from: string, to: string): PackageChange => ({ file, from, to });

const LOST_LEASE = "nothing is written under a lease that was lost";
const KEY_WAIT = "work that is refused its key is leased again when the key is free, some of it at a time";
const STUCK_SENDER = "a call is another's when its process neither works nor ends, and not while it works";
const OPEN_COMMIT = "an open commit holds up nothing, on the only connection of its pool";

export const POSTGRES_MUTANTS: readonly PostgresMutant[] = [
  {
    name: "forgets that a handler is held",
    shownBy: "a handler that is held gets no work in any store until the wait ends",
    changes: [change(`${ROOM}/operations/settle.js`, "wait_holds = g.holds", "wait_holds = NULL")],
  },
  {
    name: "marks the work outside the transaction",
    changes: [change(`${ROOM}/sql.js`, '"BEGIN ISOLATION LEVEL READ COMMITTED"', '"SELECT 1"')],
  },
  {
    name: "commits without a fence",
    changes: [change(COMMIT, "if (lost !== undefined)", "if (lost !== undefined) break; if (lost !== undefined)")],
  },
  {
    name: "commits without looking at the lease",
    changes: [change(`${ROOM}/migrations.js`, "lease = of_lease", "state = 'leased'")],
  },
  {
    name: "settles without looking at the lease",
    shownBy: LOST_LEASE,
    changes: [
      change(
        `${ROOM}/operations/settle.js`,
        "AND w.lease = g.token\n    ORDER BY",
        "AND w.state = 'leased'\n    ORDER BY",
      ),
    ],
  },
  {
    name: "saves a step without looking at the lease",
    shownBy: LOST_LEASE,
    changes: [change("store/queries/steps.js", "AND lease = :token", "AND state = 'leased'")],
  },
  {
    name: "renews and releases without looking at the lease",
    shownBy: LOST_LEASE,
    changes: [change(LEASE, "AND w.lease = g.token\n    ORDER BY", "AND w.state = 'leased'\n    ORDER BY")],
  },
  {
    name: "settles a call without looking at its lease",
    shownBy: LOST_LEASE,
    changes: [change(CALLS, "AND state = 'leased' AND lease = :token", "AND state = 'leased'")],
  },
  {
    name: "leaves the durability to the settings of the role",
    shownBy: "a store is durable on a pool whose connections are not",
    changes: [change(`${ROOM}/migrations.js`, "NOT IN ('on', 'remote_apply')", "NOT IN ('on', 'remote_apply', 'off')")],
  },
  {
    name: "does not look at what a COMMIT did",
    shownBy: "a commit of which a statement failed is refused, also if its error is caught",
    changes: [change(COMMIT, 'else if (command !== "COMMIT")', "else if (command === undefined)")],
  },
  {
    name: "retries by hand without a look at what is being settled",
    shownBy: "a retry by hand that meets a commit does not give its work to the handler again",
    changes: [change("store/queries/replan.js", "WHERE w.discarded OR w.state IN ('dead', 'parked')`", "WHERE true`")],
  },
  {
    name: "counts all runs in one row",
    shownBy: OPEN_COMMIT,
    changes: [
      change(
        `${ROOM}/operations/settle.js`,
        "INSERT INTO pigeonhole.inbox_done_count (done) SELECT count(*) FROM done HAVING count(*) > 0",
        `INSERT INTO pigeonhole.inbox_done_count (id, done) OVERRIDING SYSTEM VALUE
         SELECT 0, count(*) FROM gone HAVING count(*) > 0
         ON CONFLICT (id) DO UPDATE SET done = inbox_done_count.done + excluded.done`,
      ),
      change(
        `${ROOM}/migrations.js`,
        "INSERT INTO pigeonhole.inbox_done_count (done) VALUES (1);",
        `INSERT INTO pigeonhole.inbox_done_count AS c (id, done) OVERRIDING SYSTEM VALUE VALUES (0, 1)
         ON CONFLICT (id) DO UPDATE SET done = c.done + excluded.done;`,
      ),
    ],
  },
  {
    name: "waits for a commit when it renews leases",
    shownBy: OPEN_COMMIT,
    changes: [change(LEASE, "ORDER BY w.seq, w.handler FOR UPDATE OF w SKIP LOCKED", "FOR UPDATE OF w")],
  },
  {
    name: "waits for a commit when it recovers work",
    shownBy: OPEN_COMMIT,
    changes: [
      change(
        RECOVER,
        "WHERE ${WITHOUT_HOLDER} ORDER BY seq, handler FOR UPDATE SKIP LOCKED",
        "WHERE ${WITHOUT_HOLDER} ORDER BY seq, handler FOR UPDATE",
      ),
    ],
  },
  {
    name: "keeps a high-water mark over the numbers of contact events",
    shownBy: "a contact event that becomes visible after later ones were sent is sent too",
    changes: [
      change(
        CALLS,
        "WHERE state = 'pending' AND occurred_at <= :now",
        `WHERE state = 'pending' AND occurred_at <= :now
           AND seq > (SELECT coalesce(max(seq), 0) FROM pigeonhole.outbox_event WHERE state = 'done')`,
      ),
    ],
  },
  {
    name: "compares duplicates in the snapshot of the insert",
    shownBy: "an id that another transaction has just stored is compared with what that has stored",
    changes: [
      change(
        ACCEPT,
        "const firsts = new Map();",
        `const seen = await compareEvents(sql, events);
         const firsts = new Map();`,
      ),
      change(
        ACCEPT,
        "return results;",
        `return results.map((result, index) => result
           ?? { kind: "duplicate", otherBytes: seen[index].kind !== "same" });`,
      ),
    ],
  },
  {
    name: "forgets what was stored when another event of the batch is refused",
    shownBy:
      "an event that waits for a lock is refused alone, and the others of its batch are stored with their leases",
    changes: [
      change(
        BATCHES,
        "return events.map((event, index) => stored[index] ?? knowns.add(event));",
        "return Promise.all(events.map((event, index) => stored[index] ?? knowns.add(event)));",
      ),
    ],
  },
  {
    name: "waits for a locked row when it settles",
    shownBy: "a settlement whose row is locked is refused alone",
    changes: [
      change(
        `${ROOM}/operations/settle.js`,
        "ORDER BY w.seq, w.handler FOR UPDATE OF w SKIP LOCKED",
        "ORDER BY w.seq, w.handler FOR UPDATE OF w",
      ),
    ],
  },
  {
    name: "takes a locked row for a lost lease",
    shownBy: "a settlement whose row is locked is refused alone",
    changes: [change(`${ROOM}/operations/settle.js`, '? "locked" : "lost"', '? "lost" : "lost"')],
  },
  {
    name: "gives a key that other work has",
    shownBy: "a key is that of one piece of leased work at a time, of all stores",
    changes: [change(KEYS, "h.key_lease = h.lease", "false")],
  },
  {
    name: "takes keys without a look at what was leased meanwhile",
    shownBy: "a key that another store takes meanwhile, for work leased meanwhile, is not given twice",
    changes: [change(KEYS, "await sql.run(LOCK, values);", "")],
  },
  {
    name: "leases work that waits for a key which other work has",
    shownBy: KEY_WAIT,
    changes: [change(KEYS, "w.state = 'leased' OR (w.state", "(w.state")],
  },
  {
    name: "makes all work of a key due at once",
    shownBy: KEY_WAIT,
    changes: [change(KEYS, "LIMIT :most FOR", "LIMIT :most + 100 FOR")],
  },
  {
    name: "renews by the clock of a machine that stood still",
    shownBy: "a machine that stood still renews its leases by the time of the server",
    changes: [change(LEASE, "greatest(lease_until, :leaseUntil)", ":leaseUntil")],
  },
  {
    name: "leaves a call to its process for as long as that has its session",
    shownBy: STUCK_SENDER,
    changes: [
      change(`${ROOM}/operations/outbox-send.js`, "Math.min(request.leaseUntil", "Math.max(request.leaseUntil"),
    ],
  },
  {
    name: "lets the lease of a call end while its process works",
    shownBy: STUCK_SENDER,
    changes: [change(`${ROOM}/node-session.js`, "prolongSends(sql, node)", "Promise.resolve()")],
  },
  {
    name: "inserts a batch in the order of arrival",
    shownBy: "two batches with the same ids in another order are both stored",
    changes: [change(ACCEPT, ' FROM given ORDER BY id COLLATE "C"', " FROM given")],
  },
  {
    name: "leases work without a lock",
    shownBy: "work that another store is leasing at the moment is passed over",
    changes: [
      change(
        LEASE,
        "ORDER BY w.due_at, w.seq LIMIT :limit FOR UPDATE OF w SKIP LOCKED",
        "ORDER BY w.due_at, w.seq LIMIT :limit",
      ),
    ],
  },
  {
    name: "takes the leases of every other process",
    shownBy: "a store's leases end with it, and not before",
    changes: [change(RECOVER, "SELECT number FROM ${HELD_LOCKS}", "SELECT number FROM ${HELD_LOCKS} WHERE false")],
  },
  {
    name: "leaves the leases of processes that have closed",
    shownBy: "a store's leases end with it, and not before",
    changes: [change(RECOVER, "(n.ended OR (", "((")],
  },
  {
    name: "leaves the leases of dead processes",
    shownBy: "the leases of a dead process end some seconds after it is missed",
    changes: [change(RECOVER, "lease_until < :expiredBefore OR process IN (SELECT id FROM gone)", "lease_until < 0")],
  },
  {
    name: "takes the leases of a process as soon as it is missed",
    shownBy: "the leases of a dead process end some seconds after it is missed",
    changes: [change(RECOVER, "THEN interval '${TAKEN_OVER_AFTER_MS} ms'", "THEN interval '0 s'")],
  },
  {
    name: "gives processes no more time after a restart of the server",
    shownBy: "after a restart of the server, a process has more time to come back",
    changes: [change(RECOVER, "ELSE interval '20 s'", "ELSE interval '3 s'")],
  },
  {
    name: "believes what was noted before a restart of the server",
    shownBy: "after a restart of the server, a process has more time to come back",
    changes: [change(RECOVER, "n.missing_on = pg_postmaster_start_time()", "n.missing_on IS NOT NULL")],
  },
  {
    name: "takes its lock again only when work is recovered",
    shownBy: "a lost session is taken again at once, and nobody takes its work meanwhile",
    changes: [change(`${ROOM}/node-session.js`, "deps.session.onLost = ", "deps.session.ignored = ")],
  },
  {
    name: "takes expired leases at once after an outage",
    shownBy: "after an outage, each store keeps its work",
    changes: [change(RECOVER, "mayExpire ? now : 0", "now")],
  },
  {
    name: "does not renew its leases after an outage",
    shownBy: "after an outage, each store keeps its work",
    changes: [change(`${ROOM}/node-session.js`, "if (this.#failedAt > this.#heldAt)", "if (this.#heldAt < 0)")],
  },
  {
    name: "measures leases by the clock of each machine",
    shownBy: "stores whose clocks differ by 20 minutes take nothing from each other, and lose nothing",
    changes: [change(`${ROOM}/database-clock.js`, "Math.abs(aheadMs) < SAME_MS", "Math.abs(aheadMs) >= 0")],
  },
  {
    name: "holds a handler by the clock of the server",
    shownBy: "stores whose clocks differ by 20 minutes take nothing from each other, and lose nothing",
    changes: [change("store/postgres/database-times.js", "heldUntil: toMachine(heldUntil)", "heldUntil")],
  },
  ...TWIN_MUTANTS,
];
