import Database from "better-sqlite3";
import { expect, test } from "vitest";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import { operateFile } from "#pigeonhole/store/sqlite/open-inbox-file.js";
import { type InboxDatabase, createInboxDatabase } from "#pigeonhole/store/sqlite/inbox-database.js";
import type { OtherCommand } from "#pigeonhole/store/sqlite/prepare-operations.js";
import { migrate } from "#pigeonhole/store/sqlite/open-database.js";
import { hasShortBacklog } from "#pigeonhole/store/sqlite/open-store.js";

// A million events must not make a call slow: the writer's thread also takes deliveries. Reading all states, or those
// that are done, may walk a table from its newest row, since it finds a page there.

const REQUEST = { now: 1, leaseUntil: 2, limit: 100 };
const OF_WORK = { ...REQUEST, handler: "h", maxBytes: 1, crashedLimit: 1, allowCrashLooping: true };
const LEASE = { seq: 1, handler: "h", token: 1 };
/** Work that is leased, by which newer and older work of its key is looked for. */
const ROWS = `
  INSERT INTO inbox_event (seq, id, type, test, received_at, signed_at, body_length, body_crc)
  VALUES (1, 'evt_1', 'email.sent', 0, 1, 1, 0, 0);
  INSERT INTO inbox_work (seq, handler, state, lease, lease_until, started, finished)
  VALUES (1, 'h', 'leased', 1, 9, 1, 0)`;

type Call = (database: { writer: InboxDatabase; operator: InboxOperator; db: Database.Database }) => unknown;

const ofWriter =
  (command: OtherCommand): Call =>
  ({ writer }) => {
    const { results } = writer.runBatch({ commands: [command], bodies: new Uint8Array() });
    expect(results).toMatchObject([{ ok: true }]);
  };

/** The steps of the plans of all statements that a call runs. */
async function plansOf(call: Call): Promise<string[]> {
  const statements: string[] = [];
  const db = new Database(":memory:", { verbose: (sql) => statements.push(String(sql)) });
  try {
    migrate(db, ":memory:");
    db.exec(ROWS);
    const connection = { db, keepsWal: true, close: () => undefined };
    const operator = operateFile({ file: ":memory:", connection, now: () => 1 });
    const writer = createInboxDatabase(db);
    statements.length = 0;
    await call({ writer, operator, db });
    return (
      statements
        .filter((sql) => /(?:in|out)box_/.test(sql))
        // The newest row is the first that is read.
        .filter((sql) => !sql.endsWith("ORDER BY seq DESC LIMIT 1"))
        .flatMap((sql) => db.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all())
        .map(({ detail }) => detail)
    );
  } finally {
    db.close();
  }
}

/** Calls, and the indexes by which they find rows. */
const CALLS: [name: string, call: Call, ...indexes: string[]][] = [
  [
    "leasing work",
    ofWriter({ op: "lease", input: OF_WORK }),
    "inbox_work_holding (handler=? AND due_at>?)",
    "inbox_work_pending (handler=? AND <expr>=?)",
    "inbox_job_open",
  ],
  [
    // What a key has done in 90 days must not make each of its runs slow.
    "beginning work of which only the newest counts",
    ofWriter({ op: "beginNewest", input: { lease: LEASE, of: { key: "k", createdAt: 5 }, now: 2 } }),
    "inbox_work_newest (handler=? AND newest_key=? AND (created_at,seq)>(?,?))",
    "inbox_work_older (handler=? AND newest_key=?)",
  ],
  [
    "listing requested retries",
    ofWriter({ op: "listStuck", input: { state: "requested", limit: 1, afterSeq: 0 } }),
    "inbox_work_requested (seq>?)",
  ],
  ["listing dead events", ({ operator }) => operator.listEvents({ state: "dead" }), "inbox_work_open (state=? AND"],
  [
    "finding an event by the service's id",
    ({ operator }) => operator.getEvent("unknown"),
    "inbox_event_of_source (<expr>=?)",
  ],
  ["listing groups of errors", ({ operator }) => operator.listErrorGroups({ handler: "h" }), "inbox_work_failed"],
  [
    "leasing a call",
    ofWriter({ op: "leaseSend", input: { ...REQUEST, epoch: undefined } }),
    "outbox_send_open",
    "outbox_event_pending",
  ],
  [
    "counting work and contact events",
    ({ operator }) => operator.overview(),
    "inbox_work_open",
    "outbox_event_send (send=?)",
  ],
  [
    "looking whether the backlog is short",
    ({ db }) => hasShortBacklog(db),
    "inbox_work_open",
    "outbox_event_pending",
    "outbox_event_dead",
  ],
  ["a retry", ({ operator }) => operator.changeContactEvent("retry", "k"), "outbox_event_dead_key (key=?)"],
  ["a discard", ({ operator }) => operator.changeContactEvent("discard", "k"), "outbox_event_dead_key (key=?)"],
  [
    "listing contact events of one inbox event",
    ({ operator }) => operator.listContactEvents({ inboxEventId: "evt_1" }),
    "outbox_event_inbox_seq (inbox_seq=?",
  ],
  ["listing pending ones", ({ operator }) => operator.listContactEvents({ state: "pending" }), "outbox_event_pending"],
  ["listing running ones", ({ operator }) => operator.listContactEvents({ state: "running" }), "outbox_event_send"],
  ["listing retrying ones", ({ operator }) => operator.listContactEvents({ state: "retrying" }), "outbox_event_send"],
  ["listing dead ones", ({ operator }) => operator.listContactEvents({ state: "dead" }), "outbox_event_dead (seq<?)"],
];

test.each(CALLS)("%s uses indexes, or starts at the first new row", async (_, call, ...indexes) => {
  const plans = await plansOf(call);
  for (const index of indexes) expect(plans).toContainEqual(expect.stringContaining(`INDEX ${index}`));
  for (const step of plans.filter((detail) => /inbox_work|inbox_event|outbox_/.test(detail))) {
    // "rowid<?" alone is a page's end and no bound.
    expect(step).toMatch(/USING (COVERING )?INDEX|USING PRIMARY KEY|USING INTEGER PRIMARY KEY \(rowid[=>]\?/);
  }
});

test("each index of the tables is used by one of these calls, or keeps keys apart", () => {
  const db = new Database(":memory:");
  migrate(db, ":memory:");
  const names = db
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
    .pluck();
  const used = CALLS.flatMap(([, , ...indexes]) => indexes.map((index) => index.replace(/ .*/, "")));
  expect(names.all().toSorted()).toEqual([...new Set([...used, "outbox_event_own_key"])].toSorted());
  db.close();
});
