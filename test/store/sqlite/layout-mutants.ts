import type { PackageChange } from "../../simulation/package-copy.js";
import type { TAKE_OVERS } from "./take-over.js";

/** A mistake that could be made in what writes the SQLite file. */
export interface LayoutMutant {
  name: string;
  /** What it breaks where the model of a store sees nothing of it. */
  shownBy?: keyof typeof TAKE_OVERS;
  changes: readonly PackageChange[];
}

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

const change = (file: string, from: string, to: string): PackageChange[] => [{ file, from, to }];

export const LAYOUT_MUTANTS: readonly LayoutMutant[] = [
  {
    name: "settles a batch before its commit",
    changes: change(
      STORE,
      "settle: (settlement) => openings.opened?.commits.settle(settlement) ?? refuse(),",
      'settle: (settlement) => { openings.opened?.commits.settle(settlement).catch(() => undefined); return Promise.resolve("settled"); },',
    ),
  },
  {
    name: "answers a batch before its commit",
    changes: change(
      DATABASE,
      "return runTogether.immediate(commands, bodies);",
      'if (db.inTransaction) db.exec("COMMIT"); db.exec("BEGIN IMMEDIATE"); return runTogether(commands, bodies);',
    ),
  },
  {
    name: "uses a number again when its event was dropped",
    changes: change(SCHEMA, "PRIMARY KEY AUTOINCREMENT", "PRIMARY KEY"),
  },
  {
    name: "gives the work of an event one token",
    changes: change(ACCEPT, "next++", "next"),
  },
  {
    name: "takes the number of an event for its token",
    changes: [
      ...change(ACCEPT, "next++", "seq"),
      ...change("store/sqlite/batch.js", "token: token + place", "token: seq"),
    ],
  },
  {
    name: "settles as done whatever its token is",
    changes: change(
      SETTLE,
      "WHERE seq = ? AND handler = ? AND state = 'leased' AND lease = ?",
      "WHERE seq = ? AND handler = ? AND state = 'leased' AND ? > 0",
    ),
  },
  {
    name: "settles as failed whatever its token is",
    changes: change(SETTLE, "state = 'leased' AND lease = :token", "state = 'leased' AND :token > 0"),
  },
  {
    name: "saves a step whatever its token is",
    changes: change(STEPS, "AND lease = :token", "AND state = 'leased' AND :token > 0"),
  },
  {
    name: "renews whatever its token is",
    changes: change(
      LEASE,
      "lease_until = :leaseUntil\n  WHERE seq = :seq AND handler = :handler AND state = 'leased' AND lease = :token",
      "lease_until = :leaseUntil\n  WHERE seq = :seq AND handler = :handler AND state = 'leased' AND :token > 0",
    ),
  },
  {
    name: "gives a lease back whatever its token is",
    changes: change(
      LEASE,
      "started = started - 1\n  WHERE seq = :seq AND handler = :handler AND state = 'leased' AND lease = :token",
      "started = started - 1\n  WHERE seq = :seq AND handler = :handler AND state = 'leased' AND :token > 0",
    ),
  },
  {
    name: "runs ctx.commit without asking for its lease",
    changes: change(
      "store/sqlite/user-transaction.js",
      'settle(settlement) === "lost"',
      'settle(settlement) === "never"',
    ),
  },
  {
    name: "takes a file over in the epoch of the dead process",
    shownBy: "each take-over begins an epoch",
    changes: change("store/sqlite/operations/recover.js", "value + 1", "max(value, 1)"),
  },
  {
    name: "takes the file over at each look",
    shownBy: "each take-over begins an epoch",
    changes: [
      ...change(OPENINGS, "takeOver: !this.#hasEpoch", "takeOver: true"),
      ...change(OPENINGS, "epoch: this.epoch };", "epoch: undefined };"),
    ],
  },
  {
    name: "ends all leases at each look",
    changes: change(OPENINGS, "ownership !== undefined && this.epoch === undefined", "ownership !== undefined"),
  },
  {
    name: "leaves the leases of a dead process",
    changes: change(RECOVER, "const before = everything ? Number.MAX_SAFE_INTEGER : now;", "const before = now;"),
  },
  {
    name: "counts no death",
    changes: change(
      RECOVER,
      "SET state = 'pending', due_at = :now, lease = NULL, lease_until = NULL\n  WHERE ${ENDED}",
      "SET state = 'pending', due_at = :now, lease = NULL, lease_until = NULL, started = finished\n  WHERE ${ENDED}",
    ),
  },
  {
    name: "takes a file over in two transactions",
    shownBy: "a take-over that cannot write the ends of leases writes nothing, and the next one counts one death",
    changes: change(
      RECOVER,
      "const isTaken",
      'if (takeOver) { yield* run("COMMIT", {}); yield* run("BEGIN IMMEDIATE", {}); } const isTaken',
    ),
  },
  {
    name: "lets leases never end",
    changes: change(
      RECOVER,
      "Number.MAX_SAFE_INTEGER : now;\n    const parked",
      "Number.MAX_SAFE_INTEGER : 0;\n    const parked",
    ),
  },
  {
    name: "plans what is done once more",
    changes: change(REPLAN, "WHERE w.discarded OR", "WHERE w.state = 'done' OR"),
  },
  {
    name: "discards work that runs",
    changes: change(
      ENDING,
      "SET ${DISCARD} WHERE seq = :seq AND ${MAY_END}",
      "SET lease = NULL, lease_until = NULL, ${DISCARD} WHERE seq = :seq AND state <> 'done' /* ${MAY_END} */",
    ),
  },
  {
    name: "drops events that have open work",
    changes: change(PRUNE, "w.seq = r.seq AND w.state <> 'done'", "false"),
  },
  {
    name: "keeps the work of events that it drops",
    changes: change(PRUNE, '"DELETE FROM pigeonhole.inbox_work WHERE seq = ANY(:seqs)",', ""),
  },
  {
    name: "takes an id that it has for a new one",
    changes: [
      ...change(
        TABLES,
        'id          text    COLLATE "C" NOT NULL UNIQUE,\n    type ',
        'id          text    COLLATE "C" NOT NULL,\n    type ',
      ),
      ...change(ACCEPT, "ON CONFLICT (id) DO NOTHING", ""),
    ],
  },
  {
    name: "answers an event that it has not stored",
    changes: change(
      GROUP_COMMIT,
      "const place = batch.accept(event, token);",
      "const place = batch.accept({ ...event, id: `${event.id}?` }, token);",
    ),
  },
];
