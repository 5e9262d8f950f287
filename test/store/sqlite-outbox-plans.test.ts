import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { CONTACT_EVENT_STATES } from "#pigeonhole/store/state-words.js";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import { operateFile } from "#pigeonhole/store/sqlite/open-inbox-file.js";
import { type InboxDatabase, createInboxDatabase } from "#pigeonhole/store/sqlite/inbox-database.js";
import type { OtherCommand } from "#pigeonhole/store/sqlite/prepare-operations.js";
import { migrate } from "#pigeonhole/store/sqlite/open-database.js";

// A million events that were sent must not make the outbox slow: the writer's thread also takes deliveries. Reading all
// states, or those that are done, may walk the table from its newest row, since it finds a page there.

const REQUEST = { now: 1, leaseUntil: 2, limit: 100 };

type Call = (database: { writer: InboxDatabase; operator: InboxOperator }) => unknown;

const ofWriter =
  (command: OtherCommand): Call =>
  ({ writer }) => {
    const { results } = writer.runBatch({ commands: [command], bodies: new Uint8Array() });
    expect(results).toMatchObject([{ ok: true }]);
  };

const CALLS: [name: string, call: Call][] = [
  ["leaseSend", ofWriter({ op: "leaseSend", input: { ...REQUEST, epoch: undefined } })],
  ["countOutbox", ofWriter({ op: "countOutbox", input: undefined })],
  ["a retry", ({ operator }) => operator.changeContactEvent("retry", "k")],
  ["a discard", ({ operator }) => operator.changeContactEvent("discard", "k")],
  ["a list of one inbox event", ({ operator }) => operator.listContactEvents({ inboxEventId: "evt_1" })],
  ...CONTACT_EVENT_STATES.filter((state) => state !== "done" && state !== "discarded").map((state): [string, Call] => [
    `a list of what is ${state}`,
    ({ operator }) => operator.listContactEvents({ state }),
  ]),
];

/** The plans of the statements that a call runs, by table and index, without the numbers of the nodes. */
async function plansOf(call: Call): Promise<string[]> {
  const statements: string[] = [];
  const db = new Database(":memory:", { verbose: (sql) => statements.push(String(sql)) });
  try {
    migrate(db, ":memory:");
    const connection = { db, keepsWal: true, close: () => undefined };
    const operator = operateFile({ file: ":memory:", connection, now: () => 1 });
    const writer = createInboxDatabase(db);
    statements.length = 0;
    await call({ writer, operator });
    return statements
      .filter((sql) => sql.includes("outbox_"))
      .flatMap((sql) => db.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all())
      .map(({ detail }) => detail);
  } finally {
    db.close();
  }
}

test.each(CALLS)("the query of %s uses an index, or starts at the first new event", async (_, call) => {
  const steps = (await plansOf(call)).filter((detail) => detail.includes("outbox_"));
  expect(steps.length).toBeGreaterThan(0);
  for (const step of steps) {
    // "rowid<?" alone is a page's end and no bound.
    expect(step).toMatch(/USING (COVERING )?INDEX outbox_(event|send)_|USING INTEGER PRIMARY KEY \(rowid[=>]\?/);
  }
});
