import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { OUTBOX_STATES } from "#pigeonhole/store/outbox.js";
import { createInboxDatabase } from "#pigeonhole/store/sqlite/inbox-database.js";
import type { OtherCommand } from "#pigeonhole/store/sqlite/prepare-operations.js";
import { migrate } from "#pigeonhole/store/sqlite/open-database.js";

// A million events that were sent must not make the outbox slow: the writer's thread also takes deliveries. Reading all
// states, or those that are done, may walk the table from its newest row, since it finds a page there.

const REQUEST = { now: 1, leaseUntil: 2, limit: 100 };

const COMMANDS: [name: string, command: OtherCommand][] = [
  ["leaseSend", { op: "leaseSend", input: { ...REQUEST, epoch: undefined } }],
  ["countOutbox", { op: "countOutbox", input: undefined }],
  ["retryOutbox", { op: "retryOutbox", input: { key: "k", now: 1 } }],
  ["discardOutbox", { op: "discardOutbox", input: { key: "k", now: 1 } }],
  ["listOutbox of one inbox event", { op: "listOutbox", input: { inboxEventId: "evt_1" } }],
  ...OUTBOX_STATES.filter((state) => state !== "done").map((state): [string, OtherCommand] => [
    `listOutbox of what is ${state}`,
    { op: "listOutbox", input: { state } },
  ]),
];

/** The plans of the statements that a command runs, by table and index, without the numbers of the nodes. */
function plansOf(command: OtherCommand): string[] {
  const statements: string[] = [];
  const db = new Database(":memory:", { verbose: (sql) => statements.push(String(sql)) });
  try {
    migrate(db, ":memory:");
    const inbox = createInboxDatabase(db);
    statements.length = 0;
    const { results } = inbox.runBatch({ commands: [command], bodies: new Uint8Array() });
    expect(results).toMatchObject([{ ok: true }]);
    return statements
      .filter((sql) => sql.includes("outbox_"))
      .flatMap((sql) => db.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all())
      .map(({ detail }) => detail);
  } finally {
    db.close();
  }
}

test.each(COMMANDS)("the query of %s uses an index, or starts at the first new event", (_, command) => {
  const steps = plansOf(command).filter((detail) => detail.includes("outbox_"));
  expect(steps.length).toBeGreaterThan(0);
  for (const step of steps) {
    // "rowid<?" alone is a page's end and no bound.
    expect(step).toMatch(/USING (COVERING )?INDEX outbox_(event|send)_|USING INTEGER PRIMARY KEY \(rowid[=>]\?/);
  }
});
