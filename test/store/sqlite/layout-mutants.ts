import { MODEL, type MistakesBy, mutantsOf } from "../mutants-of.js";
import type { TAKE_OVERS } from "./take-over.js";

const ACCEPT = "store/sqlite/operations/accept.js";
const DATABASE = "store/sqlite/inbox-database.js";
const GROUP_COMMIT = "store/sqlite/group-commit.js";
const LEASE = "store/sqlite/operations/lease.js";
const PRUNE = "store/queries/prune.js";
const RECOVER = "store/sqlite/operations/recover.js";
const REPLAN = "store/queries/replan.js";
const ENDING = "store/queries/ending-work.js";
const SCHEMA = "store/sqlite/migrations.js";
const TABLES = "store/tables.js";
const SETTLE = "store/sqlite/operations/settle.js";
const STEPS = "store/queries/steps.js";
const STORE = "store/sqlite/sqlite-store.js";
const OPENINGS = "store/sqlite/openings.js";

/** Mistakes that could be made in what writes the SQLite file, by the take-over that each one breaks. */
const MISTAKES: MistakesBy<keyof typeof TAKE_OVERS> = {
  [MODEL]: {
    "settles a batch before its commit": [
      STORE,
      "settle: (settlement) => openings.opened?.commits.settle(settlement) ?? refuse(),",
      'settle: (settlement) => { openings.opened?.commits.settle(settlement).catch(() => undefined); return Promise.resolve("settled"); },',
    ],
    "answers a batch before its commit": [
      DATABASE,
      "return runTogether.immediate(commands, bodies);",
      'if (db.inTransaction) db.exec("COMMIT"); db.exec("BEGIN IMMEDIATE"); return runTogether(commands, bodies);',
    ],
    "uses a number again when its event was dropped": [SCHEMA, "PRIMARY KEY AUTOINCREMENT", "PRIMARY KEY"],
    "gives the work of an event one token": [ACCEPT, "next++", "next"],
    "takes the number of an event for its token": [
      [ACCEPT, "next++", "seq"],
      ["store/sqlite/batch.js", "token: token + place", "token: seq"],
    ],
    "settles as done whatever its token is": [
      SETTLE,
      "WHERE seq = ? AND handler = ? AND state = 'leased' AND lease = ?",
      "WHERE seq = ? AND handler = ? AND state = 'leased' AND ? > 0",
    ],
    "settles as failed whatever its token is": [
      SETTLE,
      "state = 'leased' AND lease = :token",
      "state = 'leased' AND :token > 0",
    ],
    "saves a step whatever its token is": [STEPS, "AND lease = :token", "AND state = 'leased' AND :token > 0"],
    "renews whatever its token is": [
      LEASE,
      "lease_until = :leaseUntil\n  WHERE seq = :seq AND handler = :handler AND state = 'leased' AND lease = :token",
      "lease_until = :leaseUntil\n  WHERE seq = :seq AND handler = :handler AND state = 'leased' AND :token > 0",
    ],
    "gives a lease back whatever its token is": [
      LEASE,
      "started = started - 1\n  WHERE seq = :seq AND handler = :handler AND state = 'leased' AND lease = :token",
      "started = started - 1\n  WHERE seq = :seq AND handler = :handler AND state = 'leased' AND :token > 0",
    ],
    "runs ctx.commit without asking for its lease": [
      "store/sqlite/user-transaction.js",
      'settle(settlement) === "lost"',
      'settle(settlement) === "never"',
    ],
    "ends all leases at each look": [
      OPENINGS,
      "ownership !== undefined && this.epoch === undefined",
      "ownership !== undefined",
    ],
    "leaves the leases of a dead process": [
      RECOVER,
      "const before = everything ? Number.MAX_SAFE_INTEGER : now;",
      "const before = now;",
    ],
    "counts no death": [
      RECOVER,
      "SET state = 'pending', due_at = :now, lease = NULL, lease_until = NULL\n  WHERE ${ENDED}",
      "SET state = 'pending', due_at = :now, lease = NULL, lease_until = NULL, started = finished\n  WHERE ${ENDED}",
    ],
    "lets leases never end": [
      RECOVER,
      "Number.MAX_SAFE_INTEGER : now;\n    const parked",
      "Number.MAX_SAFE_INTEGER : 0;\n    const parked",
    ],
    "plans what is done once more": [REPLAN, "WHERE w.discarded OR", "WHERE w.state = 'done' OR"],
    "discards work that runs": [
      ENDING,
      "SET ${DISCARD} WHERE seq = :seq AND ${MAY_END}",
      "SET lease = NULL, lease_until = NULL, ${DISCARD} WHERE seq = :seq AND state <> 'done' /* ${MAY_END} */",
    ],
    "drops events that have open work": [PRUNE, "w.seq = r.seq AND w.state <> 'done'", "false"],
    "drops a body a moment too early": [
      [PRUNE, "receivedAt >= before", "receivedAt > before"],
      [PRUNE, "since < before", "since <= before"],
    ],
    "drops a body that a handler still needs": [
      PRUNE,
      "mayGo: MAY_GO,\n    remove: REMOVE_BODIES,",
      'mayGo: "SELECT seq FROM pigeonhole.inbox_event WHERE seq = ANY(:seqs)",\n    remove: REMOVE_BODIES,',
    ],
    "drops no body before its event": [PRUNE, "[BODIES, limits.bodiesBefore],", ""],
    "keeps what is behind an event that was received ahead of the clock": [
      PRUNE,
      "receivedAt >= before && receivedAt <= limits.now",
      "receivedAt >= before",
    ],
    "keeps the work of events that it drops": [
      PRUNE,
      '"DELETE FROM pigeonhole.inbox_work WHERE seq = ANY(:seqs)",',
      "",
    ],
    "takes an id that it has for a new one": [
      [
        TABLES,
        'id          text    COLLATE "C" NOT NULL UNIQUE,\n    type ',
        'id          text    COLLATE "C" NOT NULL,\n    type ',
      ],
      [ACCEPT, "ON CONFLICT (id) DO NOTHING", ""],
    ],
    "answers an event that it has not stored": [
      GROUP_COMMIT,
      "const place = batch.accept(event, token);",
      "const place = batch.accept({ ...event, id: `${event.id}?` }, token);",
    ],
  },
  "each take-over begins an epoch": {
    "takes a file over in the epoch of the dead process": [
      "store/sqlite/operations/recover.js",
      "value + 1",
      "max(value, 1)",
    ],
    "takes the file over at each look": [
      [OPENINGS, "takeOver: !this.#hasEpoch", "takeOver: true"],
      [OPENINGS, "epoch: this.epoch };", "epoch: undefined };"],
    ],
  },
  "a take-over that cannot write the ends of leases writes nothing, and the next one counts one death": {
    "runs a batch outside of a transaction": [
      DATABASE,
      "const runTogether = db.transaction((commands, bodies) => {",
      "const runTogether = ((run) => Object.assign(run, { immediate: run }))((commands, bodies) => {",
    ],
    "takes a file over in two transactions": [
      RECOVER,
      "const isTaken",
      'if (takeOver) { yield* run("COMMIT", {}); yield* run("BEGIN IMMEDIATE", {}); } const isTaken',
    ],
  },
};

export const LAYOUT_MUTANTS = mutantsOf(MISTAKES);
