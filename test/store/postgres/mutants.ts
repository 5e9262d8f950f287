import { MODEL, type MistakesBy, mutantsOf } from "../mutants-of.js";
import type { POSTGRES_SCENARIOS } from "./scenarios.js";

const ROOM = "store/postgres";
const ACCEPT = `${ROOM}/operations/store-events.js`;
const LEASE = `${ROOM}/operations/lease.js`;
const SETTLE = `${ROOM}/operations/settle.js`;
const RECOVER = `${ROOM}/operations/recover.js`;
const SCHEMA = `${ROOM}/migrations.js`;
const BATCHES = `${ROOM}/create-batches.js`;
const KEYS = `${ROOM}/operations/keys.js`;
const COMMIT = `${ROOM}/commit-on-pool.js`;
const CALLS = "store/queries/outbox-calls.js";
const REPLAN = "store/queries/replan.js";
const PRUNE = "store/queries/prune.js";

const ENDED = "SELECT place FROM done`";
const ENDS =
  "FROM held JOIN given AS g USING (place) WHERE w.seq = held.seq AND w.handler = held.handler RETURNING g.place";
const endsOnly = (held: string): string => ENDS.replace("FROM held", `FROM (SELECT * FROM held ${held}) AS held`);
const REMOVE_MARKS = '"DELETE FROM pigeonhole.inbox_work WHERE seq = ANY(:seqs)"';
const EXPIRED = "lease_until < :expiredBefore OR process IN (SELECT id FROM gone)";
const STORE = 'session.lease(connection, "storing events", (sql, holder) => storeEvents(sql, holder, events))';
const SETTLE_BATCHED = 'settlement.to === "done" ? done.add(settlement) : others.add(settlement)';

/** Mistakes that could be made in the store on PostgreSQL, by the scenario that each one breaks. */
const MISTAKES: MistakesBy<keyof typeof POSTGRES_SCENARIOS> = {
  [MODEL]: {
    "forgets that a handler is held": [SETTLE, "wait_holds = g.holds", "wait_holds = NULL"],
    "marks the work outside the transaction": [
      `${ROOM}/sql.js`,
      '"BEGIN ISOLATION LEVEL READ COMMITTED"',
      '"SELECT 1"',
    ],
    "commits without a fence": [
      COMMIT,
      "if (lost !== undefined)",
      "if (lost !== undefined) break; if (lost !== undefined)",
    ],
    "commits without looking at the lease": [SCHEMA, "lease = of_lease", "state = 'leased'"],
    "answers an event before it is stored": [
      BATCHES,
      `const stored = await ${STORE};`,
      `const storing = ${STORE};
        storing.catch(() => undefined);
        const stored = events.some(({ work }) => work.some(({ leaseUntil }) => leaseUntil !== undefined))
            ? await storing
            : events.map(() => ({ kind: "stored", seq: 0, leases: [], otherBytes: false }));`,
    ],
    "answers a settlement before it is written": [
      BATCHES,
      `return (settlement) => (${SETTLE_BATCHED});`,
      `return (settlement) => {
        (${SETTLE_BATCHED}).catch(() => undefined);
        return Promise.resolve("settled");
    };`,
    ],
    "knows duplicates in the memory of its process only": [
      ["store/tables.js", "NOT NULL UNIQUE,\n    type ", "NOT NULL,\n    type "],
      [ACCEPT, "ON CONFLICT (id) DO NOTHING", "ON CONFLICT DO NOTHING"],
      [ACCEPT, "export async function storeEvents(", "const seen = new Set();\nexport async function storeEvents("],
      [
        ACCEPT,
        "if (!firsts.has(id))",
        `const mine = holder.process + " " + id;
        if (seen.has(mine))
            continue;
        seen.add(mine);
        if (!firsts.has(id))`,
      ],
    ],
    "leaves the work that ctx.commit has done": [
      SCHEMA,
      'SET ${ended("ended_at")} WHERE ctid',
      "SET error = NULL WHERE ctid",
    ],
    "takes another handler's mark for its own": [
      REPLAN,
      "VALUES (:seq, :handler, 'pending', :now::bigint, 0, 0)",
      `SELECT :seq::bigint, :handler::text, 'pending', :now::bigint, 0, 0
         WHERE NOT EXISTS (SELECT 1 FROM pigeonhole.inbox_work AS d WHERE d.seq = :seq AND d.state = 'done')`,
    ],
    "plans what is done once more": [REPLAN, "WHERE w.discarded OR", "WHERE w.state = 'done' OR"],
    "uses a number again when its event was dropped": [
      ACCEPT,
      "SELECT nextval('pigeonhole.inbox_event_number') AS seq",
      "SELECT (SELECT coalesce(max(seq), 0) FROM pigeonhole.inbox_event) + g.place AS seq",
    ],
    "keeps a high-water mark over the numbers of events": [
      `${ROOM}/operations/lease.js`,
      "AND w.due_at <= :now",
      "AND w.due_at <= :now AND w.seq > (SELECT coalesce(max(seq), 0) FROM pigeonhole.inbox_work WHERE state = 'done')",
    ],
    "lets leases never end": [RECOVER, EXPIRED, "lease_until < 0 OR process IN (SELECT id FROM gone)"],
    "ends all leases at each look": [RECOVER, EXPIRED, "lease_until < :expiredBefore OR process > 0"],
    "counts no death": [
      RECOVER,
      "error = CASE WHEN is_looping THEN :error ELSE error END,",
      "error = CASE WHEN is_looping THEN :error ELSE error END, finished = w.started,",
    ],
    "drops events that have work": [PRUNE, "w.seq = r.seq AND w.state <> 'done'", "false"],
    "drops the marks of events that stay": [PRUNE, REMOVE_MARKS, REMOVE_MARKS.replace("seq =", "seq <=")],
    "drops the marks of one handler only": [
      PRUNE,
      REMOVE_MARKS,
      '"DELETE FROM pigeonhole.inbox_work WHERE seq = ANY(:seqs) AND handler = (SELECT min(handler) FROM pigeonhole.inbox_work)"',
    ],
  },
  "nothing is written under a lease that was lost": {
    "settles without looking at the lease": [
      SETTLE,
      "AND w.lease = g.token\n    ORDER BY",
      "AND w.state = 'leased'\n    ORDER BY",
    ],
    "saves a step without looking at the lease": [
      "store/queries/steps.js",
      "AND lease = :token",
      "AND state = 'leased'",
    ],
    "renews and releases without looking at the lease": [
      LEASE,
      "AND w.lease = g.token\n    ORDER BY",
      "AND w.state = 'leased'\n    ORDER BY",
    ],
    "settles a call without looking at its lease": [
      CALLS,
      "AND state = 'leased' AND lease = :token",
      "AND state = 'leased'",
    ],
    "gives work again under the token of its last lease": [
      `${ROOM}/process-session.js`,
      "randomInt(1, 2 ** 48 - 1)",
      "randomInt(1, 2)",
    ],
  },
  "a store is durable on a pool whose connections are not": {
    "leaves the durability to the settings of the role": [
      SCHEMA,
      "NOT IN ('on', 'remote_apply')",
      "NOT IN ('on', 'remote_apply', 'off')",
    ],
  },
  "a commit of which a statement failed is refused, also if its error is caught": {
    "does not look at what a COMMIT did": [COMMIT, 'else if (command !== "COMMIT")', "else if (command === undefined)"],
  },
  "a retry by hand that meets a commit does not give its work to the handler again": {
    "retries by hand without a look at what is being settled": [
      REPLAN,
      "WHERE w.discarded OR w.state IN ('dead', 'parked')`",
      "WHERE true`",
    ],
  },
  "an open commit holds up nothing, on the only connection of its pool": {
    "counts all runs in one row": [
      [
        SETTLE,
        "INSERT INTO pigeonhole.inbox_done_count (done) SELECT count(*) FROM done HAVING count(*) > 0",
        `INSERT INTO pigeonhole.inbox_done_count (id, done) OVERRIDING SYSTEM VALUE
         SELECT 0, count(*) FROM gone HAVING count(*) > 0
         ON CONFLICT (id) DO UPDATE SET done = inbox_done_count.done + excluded.done`,
      ],
      [
        SCHEMA,
        "INSERT INTO pigeonhole.inbox_done_count (done) VALUES (1);",
        `INSERT INTO pigeonhole.inbox_done_count AS c (id, done) OVERRIDING SYSTEM VALUE VALUES (0, 1)
         ON CONFLICT (id) DO UPDATE SET done = c.done + excluded.done;`,
      ],
    ],
    "waits for a commit when it renews leases": [
      LEASE,
      "ORDER BY w.seq, w.handler FOR UPDATE OF w SKIP LOCKED",
      "FOR UPDATE OF w",
    ],
    "waits for a commit when it recovers work": [
      RECOVER,
      "WHERE ${WITHOUT_HOLDER} ORDER BY seq, handler FOR UPDATE SKIP LOCKED",
      "WHERE ${WITHOUT_HOLDER} ORDER BY seq, handler FOR UPDATE",
    ],
  },
  "a contact event that becomes visible after later ones were sent is sent too": {
    "keeps a high-water mark over the numbers of contact events": [
      CALLS,
      "WHERE state = 'pending' AND occurred_at <= :now",
      `WHERE state = 'pending' AND occurred_at <= :now
           AND seq > (SELECT coalesce(max(seq), 0) FROM pigeonhole.outbox_event WHERE state = 'done')`,
    ],
  },
  "an id that another transaction has just stored is compared with what that has stored": {
    "compares duplicates in the snapshot of the insert": [
      [
        ACCEPT,
        "const firsts = new Map();",
        `const seen = await compareEvents(sql, events);
         const firsts = new Map();`,
      ],
      [
        ACCEPT,
        "return results;",
        `return results.map((result, index) => result
           ?? { kind: "duplicate", otherBytes: seen[index].kind !== "same" });`,
      ],
    ],
  },
  "an event that waits for a lock is refused alone, and the others of its batch are stored with their leases": {
    "forgets what was stored when another event of the batch is refused": [
      BATCHES,
      "return events.map((event, index) => stored[index] ?? knowns.add(event));",
      "return Promise.all(events.map((event, index) => stored[index] ?? knowns.add(event)));",
    ],
  },
  "a settlement whose row is locked is refused alone": {
    "waits for a locked row when it settles": [
      SETTLE,
      "ORDER BY w.seq, w.handler FOR UPDATE OF w SKIP LOCKED",
      "ORDER BY w.seq, w.handler FOR UPDATE OF w",
    ],
    "takes a locked row for a lost lease": [SETTLE, '? "locked" : "lost"', '? "lost" : "lost"'],
  },
  "a key is that of one piece of leased work at a time, of all stores": {
    "gives a key that other work has": [KEYS, "h.key_lease = h.lease", "false"],
  },
  "a key that another store takes meanwhile, for work leased meanwhile, is not given twice": {
    "takes keys without a look at what was leased meanwhile": [KEYS, "await sql.run(LOCK, values);", ""],
  },
  "work that is refused its key is leased again when the key is free, some of it at a time": {
    "leases work that waits for a key which other work has": [KEYS, "w.state = 'leased' OR (w.state", "(w.state"],
    "makes all work of a key due at once": [KEYS, "LIMIT :most FOR", "LIMIT :most + 100 FOR"],
  },
  "a machine that stood still renews its leases by the time of the server": {
    "renews by the clock of a machine that stood still": [LEASE, "greatest(lease_until, :leaseUntil)", ":leaseUntil"],
  },
  "a call is another's when its process neither works nor ends, and not while it works": {
    "leaves a call to its process for as long as that has its session": [
      `${ROOM}/operations/outbox-send.js`,
      "Math.min(request.leaseUntil",
      "Math.max(request.leaseUntil",
    ],
    "lets the lease of a call end while its process works": [
      `${ROOM}/process-session.js`,
      "prolongSends(sql, process)",
      "Promise.resolve()",
    ],
  },
  "two batches with the same ids in another order are both stored": {
    "inserts a batch in the order of arrival": [ACCEPT, ' FROM given ORDER BY id COLLATE "C"', " FROM given"],
  },
  "work that another store is leasing at the moment is passed over": {
    "leases work without a lock": [
      LEASE,
      "ORDER BY w.due_at, w.seq LIMIT :limit FOR UPDATE OF w SKIP LOCKED",
      "ORDER BY w.due_at, w.seq LIMIT :limit",
    ],
  },
  "a store's leases end with it, and not before": {
    "takes the leases of every other process": [
      RECOVER,
      "SELECT number FROM ${HELD_LOCKS}",
      "SELECT number FROM ${HELD_LOCKS} WHERE false",
    ],
    "leaves the leases of processes that have closed": [RECOVER, "(n.ended OR (", "(("],
  },
  "the leases of a dead process end some seconds after it is missed": {
    "leaves the leases of dead processes": [
      RECOVER,
      "lease_until < :expiredBefore OR process IN (SELECT id FROM gone)",
      "lease_until < 0",
    ],
    "takes the leases of a process as soon as it is missed": [
      RECOVER,
      "THEN interval '${TAKEN_OVER_AFTER_MS} ms'",
      "THEN interval '0 s'",
    ],
  },
  "after a restart of the server, a process has more time to come back": {
    "gives processes no more time after a restart of the server": [
      RECOVER,
      "ELSE interval '20 s'",
      "ELSE interval '3 s'",
    ],
    "believes what was noted before a restart of the server": [
      RECOVER,
      "n.missing_on = pg_postmaster_start_time()",
      "n.missing_on IS NOT NULL",
    ],
  },
  "a lost session is taken again at once, and nobody takes its work meanwhile": {
    "takes its lock again only when work is recovered": [
      `${ROOM}/process-session.js`,
      "deps.session.onLost = ",
      "deps.session.ignored = ",
    ],
  },
  "after an outage, each store keeps its work": {
    "takes expired leases at once after an outage": [RECOVER, "mayExpire ? now : 0", "now"],
    "does not renew its leases after an outage": [
      `${ROOM}/process-session.js`,
      "if (this.#failedAt > this.#heldAt)",
      "if (this.#heldAt < 0)",
    ],
  },
  "stores whose clocks differ by 20 minutes take nothing from each other, and lose nothing": {
    "measures leases by the clock of each machine": [
      `${ROOM}/database-clock.js`,
      "Math.abs(aheadMs) < SAME_MS",
      "Math.abs(aheadMs) >= 0",
    ],
    "holds a handler by the clock of the server": ["store/postgres/database-times.js", '"heldUntil"', '"never"'],
  },
  "each settlement of a batch leaves a mark, of every handler": {
    "loses all marks of a batch but one": [
      [SETTLE, ENDS, endsOnly("LIMIT 1")],
      [SETTLE, ENDED, "SELECT place FROM held`"],
    ],
    "loses the marks of all handlers but one": [
      [SETTLE, ENDS, endsOnly("WHERE handler = (SELECT min(handler) FROM held)")],
      [SETTLE, ENDED, "SELECT place FROM held`"],
    ],
  },
  "work of a dead process that is locked at the moment is recovered later": {
    "forgets a dead process that has work still": [
      RECOVER,
      "AND NOT EXISTS (SELECT 1 FROM pigeonhole.inbox_work AS w WHERE w.state = 'leased' AND w.process = n.id)",
      "",
    ],
  },
};

export const POSTGRES_MUTANTS = mutantsOf(MISTAKES);
