import type { PackageChange } from "../../simulation/package-copy.js";

/** A mistake that could be made in what writes the SQLite file. */
export interface LayoutMutant {
  name: string;
  /** A scenario that it breaks. */
  shownBy: string;
  changes: readonly PackageChange[];
}

const DIRECT = "store/sqlite/direct-pairs.js";
const GROUP = "store/sqlite/group-marks.js";
const SCHEMA = "store/sqlite/migrations.js";

const change = (file: string, from: string, to: string): PackageChange[] => [{ file, from, to }];

export const LAYOUT_MUTANTS: readonly LayoutMutant[] = [
  {
    name: "loses the second mark of a batch",
    shownBy: "two events 256 numbers apart share none, and both are found",
    changes: change(DIRECT, "of groupMarks(numbers))", "of groupMarks(numbers).slice(0, 1))"),
  },
  {
    name: "loses the marks of all handlers but one",
    shownBy: "a mark leaves out an event between that is another handler's",
    changes: change(DIRECT, "of this.#ended) {", "of [...this.#ended].slice(0, 1)) {"),
  },
  {
    name: "writes the marks with the next batch",
    shownBy: "events that are settled together in a row have one mark",
    changes: change("store/sqlite/inbox-database.js", "pairs.flush();\n        addDone(done);", "addDone(done);"),
  },
  {
    name: "keeps the marks of a commit that failed",
    shownBy: "a commit that fails leaves no mark, and the settlement can be repeated",
    changes: change(DIRECT, "this.#removed.length = 0;\n        this.#ended.clear();", "this.#removed.length = 0;"),
  },
  {
    name: "forgets what was in flight when a commit fails",
    shownBy: "a commit that fails leaves no mark, and the settlement can be repeated",
    changes: change(DIRECT, "of this.#removed) {", "of []) {"),
  },
  {
    name: "marks a range over a parked event between",
    shownBy: "a mark leaves out an event between that was parked",
    changes: change(GROUP, "if (last - first === sorted.length - 1)", "if (last >= first)"),
  },
  {
    name: "marks a range that is too long by one",
    shownBy: "events that are settled together in a row have one mark",
    changes: change(GROUP, "return { first, last, bits: null };", "return { first, last: last + 1, bits: null };"),
  },
  {
    name: "marks a range that is too short by one",
    shownBy: "events that are settled together in a row have one mark",
    changes: change(
      GROUP,
      "return { first, last, bits: null };",
      "return { first, last: Math.max(first, last - 1), bits: null };",
    ),
  },
  {
    name: "writes marks over one number more than they are looked for",
    shownBy: "two events 256 numbers apart share none, and both are found",
    changes: [
      ...change(GROUP, "const MAX_SPAN = 256;", "const MAX_SPAN = 257;"),
      ...change(SCHEMA, "last BETWEEN first AND first + 255", "last BETWEEN first AND first + 256"),
    ],
  },
  {
    name: "looks for marks over one number less than they are written",
    shownBy: "two events 255 numbers apart share one mark, and both are found",
    changes: change(SCHEMA, "m.first BETWEEN e.seq - 255 AND e.seq", "m.first BETWEEN e.seq - 254 AND e.seq"),
  },
  {
    name: "takes the end of a mark for one number more",
    shownBy: "two events 256 numbers apart share none, and both are found",
    changes: change(SCHEMA, "AND m.last >= e.seq\n", "AND m.last >= e.seq - 1\n"),
  },
  {
    name: "reads the bits of a mark one place too far",
    shownBy: "a mark shows who is done, when, and at the first try",
    changes: change(SCHEMA, "substr(m.bits, e.seq - m.first + 1, 1)", "substr(m.bits, e.seq - m.first + 2, 1)"),
  },
  {
    name: "takes another handler's mark for its own",
    shownBy: "each handler of an event has marks of its own",
    changes: change(SCHEMA, "m.handler = p.value AND m.first", "m.handler IS NOT NULL AND m.first"),
  },
  {
    name: "uses a number again when its event was dropped",
    shownBy: "the number of the newest event is not used again after retention has dropped it",
    changes: change(SCHEMA, "UPDATE counter SET value = OLD.seq", "UPDATE counter SET value = 0"),
  },
  {
    name: "puts the low-water mark too high by one",
    shownBy: "work in flight that fails gets a row, and the low-water mark moves on",
    changes: change(DIRECT, "oldest.value - 1;", "oldest.value;"),
  },
  {
    name: "moves the low-water mark past what was just stored",
    shownBy: "a mark shows who is done, when, and at the first try",
    changes: change(DIRECT, "oldest.done === true ? this.#newest : oldest.value - 1", "this.#newest"),
  },
  {
    name: "never moves the low-water mark",
    shownBy: "work in flight that fails gets a row, and the low-water mark moves on",
    changes: change(
      DIRECT,
      "if (this.epoch !== undefined)\n            this.#statements.setSettledThrough",
      "if (this.#open === undefined)\n            this.#statements.setSettledThrough",
    ),
  },
  {
    name: "takes what ctx.commit has done for in flight still",
    shownBy: "ctx.commit lets the low-water mark move on",
    changes: change("store/sqlite/group-commit.js", "this.#ended.push(...ended);", ""),
  },
  {
    name: "takes work that has got a row for in flight still",
    shownBy: "work in flight that fails gets a row, and the low-water mark moves on",
    changes: change(DIRECT, "this.flush();\n        this.#remove(lease);", "this.flush();"),
  },
  {
    name: "lets leases in flight never end",
    shownBy: "work in flight that ran out gets a row, and the low-water mark moves on",
    changes: change("store/sqlite/operations/recover.js", "pairs.expire(now);", ""),
  },
  {
    name: "keeps its epoch in memory only",
    shownBy: "a settlement as done writes nothing once another process has taken the file over",
    changes: change(DIRECT, "return this.#isOwn ? this.#own : undefined;", "return this.#own;"),
  },
  {
    name: "asks for its epoch once, and not in each transaction",
    shownBy: "a settlement as done writes nothing once another process has taken the file over",
    changes: change(DIRECT, "begin() {\n        this.#isOwn = undefined;", "begin() {"),
  },
  {
    name: "saves a step without asking whether the work is still its own",
    shownBy: "a step writes nothing once another process has taken the file over",
    changes: change(
      "store/sqlite/operations/steps.js",
      "SELECT 1 ${FROM_OWN_PAIR})",
      "SELECT 1 FROM inbox_event WHERE seq = :seq)",
    ),
  },
  {
    name: "commits without asking whether the work is still its own",
    shownBy: "ctx.commit writes nothing once another process has taken the file over",
    changes: change(
      "store/sqlite/user-transaction.js",
      "SELECT handler, seq, seq, :at ${FROM_OWN_PAIR}",
      "SELECT :handler, :seq, :seq, :at WHERE :token IS NOT NULL",
    ),
  },
  {
    name: "takes a file over in the epoch of the dead process",
    shownBy: "each take-over begins an epoch",
    changes: change(DIRECT, "(epoch.get() ?? 0) + 1", "Math.max(epoch.get() ?? 0, 1)"),
  },
  {
    name: "takes the file over at each look",
    shownBy: "a process that looks for what others left leaves its own work in flight alone",
    changes: [
      ...change("store/sqlite/sqlite-store.js", "takeOver: !hasEpoch", "takeOver: true"),
      ...change("store/sqlite/sqlite-store.js", "epoch: lastEpoch }", "epoch: undefined }"),
    ],
  },
  {
    name: "ends all leases at each look",
    shownBy: "a renewed lease goes on under its token",
    changes: change(
      "store/sqlite/sqlite-store.js",
      "ownership !== undefined && lastEpoch === undefined",
      "ownership !== undefined",
    ),
  },
  {
    name: "leaves what was in flight at a death where it is",
    shownBy: "a mark leaves out an event between that still runs",
    changes: change(DIRECT, "addAllRows.run();", ""),
  },
  {
    name: "counts no death of work in flight",
    shownBy: "a step is kept for the next process, with the death counted once",
    changes: change(
      DIRECT,
      "${ENDED}, ${ENDED}, 1, 0, 'leased' FROM inbox_in_flight",
      "${ENDED}, ${ENDED}, 0, 0, 'leased' FROM inbox_in_flight",
    ),
  },
  {
    name: "takes a file over in two transactions",
    shownBy: "a take-over that cannot write the ends of leases writes nothing, and the next one counts one death",
    changes: change(
      "store/sqlite/operations/recover.js",
      "pairs.expire(now);",
      'pairs.expire(now); if (takeOver) db.exec("COMMIT; BEGIN IMMEDIATE");',
    ),
  },
  {
    name: "writes the rows of the dead in a transaction of their own",
    shownBy: "a take-over that cannot write the low-water mark writes nothing, and the next one counts one death",
    changes: change(DIRECT, "settleAll.run();", 'db.exec("COMMIT; BEGIN IMMEDIATE"); settleAll.run();'),
  },
  {
    name: "gives a new handler the events that were in flight",
    shownBy: "each handler of an event has marks of its own",
    changes: change(
      SCHEMA,
      "SELECT e.seq, p.value AS handler, e.received_at\n  FROM inbox_event AS e\n  JOIN json_each(e.direct) AS p",
      "SELECT e.seq, p.value AS handler, e.received_at\n  FROM inbox_event AS e\n  JOIN (SELECT DISTINCT j.value FROM inbox_event AS x JOIN json_each(x.direct) AS j) AS p",
    ),
  },
  {
    name: "plans what is marked or in flight once more",
    shownBy: "replanning gives no second run to work that is in flight, marked or done",
    changes: change(
      SCHEMA,
      "AND handler = NEW.handler))\n  BEGIN SELECT RAISE(IGNORE); END;",
      "AND handler = NEW.handler))\n  BEGIN SELECT 1; END;",
    ),
  },
  {
    name: "drops events that are in flight",
    shownBy: "retention drops no event that is in flight, and the marks with the last event under them",
    changes: change(
      "store/sqlite/operations/prune.js",
      "AND NOT EXISTS (SELECT 1 FROM inbox_in_flight AS f WHERE f.seq = :seq)",
      "",
    ),
  },
  {
    name: "drops a mark with the first event under it",
    shownBy: "retention drops no event that is in flight, and the marks with the last event under them",
    changes: change(
      "store/sqlite/operations/prune.js",
      "AND NOT EXISTS (SELECT 1 FROM inbox_event AS e WHERE e.seq BETWEEN inbox_mark.first AND inbox_mark.last)",
      "",
    ),
  },
  {
    name: "drops the marks of one handler only",
    shownBy: "retention drops a mark with the last event under it, also when that is another handler's",
    changes: change(
      "store/sqlite/operations/prune.js",
      "WHERE handler IN marking",
      "WHERE handler = (SELECT min(handler) FROM inbox_mark)",
    ),
  },
  {
    name: "answers a batch before its commit",
    shownBy: "events that are settled together in a row have one mark",
    changes: change(
      "store/sqlite/inbox-database.js",
      "const results = runTogether.immediate(commands, bodies);",
      'if (db.inTransaction) db.exec("COMMIT"); db.exec("BEGIN IMMEDIATE"); const results = runTogether(commands, bodies);',
    ),
  },
  {
    name: "answers a settlement before it is written",
    shownBy: "a commit that fails leaves no mark, and the settlement can be repeated",
    changes: change(
      "store/sqlite/sqlite-store.js",
      "settle: (settlement) => opened?.commits.settle(settlement) ?? refuse(),",
      'settle: (settlement) => { opened?.commits.settle(settlement).catch(() => undefined); return Promise.resolve("settled"); },',
    ),
  },
];
