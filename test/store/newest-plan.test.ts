import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { getEventWithGates } from "#pigeonhole/store/queries/events.js";
import { beginNewest } from "#pigeonhole/store/queries/newest.js";
import { migrate } from "#pigeonhole/store/sqlite/open-database.js";
import { runInFile } from "#pigeonhole/store/sqlite/run-in-file.js";

/** The plans of all that ends at a row, as the call is run on the file; the first step of each. */
function plansOf(prepare: string, call: (db: Database.Database) => unknown): (string | undefined)[] {
  const statements: string[] = [];
  const db = new Database(":memory:", { verbose: (sql) => statements.push(String(sql)) });
  migrate(db, ":memory:");
  db.exec(prepare);
  statements.length = 0;
  call(db);
  const plans = statements
    .filter((sql) => sql.includes("LIMIT"))
    .map((sql) => db.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).get()?.detail);
  db.close();
  return plans;
}

test("an event is looked for by the service's id among those that have it", () => {
  const plans = plansOf("", (db) =>
    expect(runInFile(db, getEventWithGates({ id: "unknown", now: 1 }))).toBeUndefined(),
  );
  expect(plans).toEqual(["SEARCH e USING INDEX inbox_event_of_source (<expr>=?)"]);
});

// What a key has done in 90 days must not make each of its runs slow: deliveries wait for the transaction.
test("older work of a key is looked for among what is open only, and newer work by its time", () => {
  const lease = { seq: 1, handler: "h", token: 1 };
  const rows = `
    INSERT INTO inbox_event (seq, id, type, test, received_at, signed_at, body_length, body_crc)
    VALUES (1, 'evt_1', 'email.sent', 0, 1, 1, 0, 0);
    INSERT INTO inbox_work (seq, handler, state, lease, lease_until, started, finished)
    VALUES (1, 'h', 'leased', 1, 9, 1, 0)`;
  const plans = plansOf(rows, (db) =>
    expect(runInFile(db, beginNewest({ lease, of: { key: "k", createdAt: 5 }, now: 2 }))).toBe("newest"),
  );
  expect(plans).toEqual([
    "SEARCH w USING INDEX inbox_work_newest (handler=? AND newest_key=? AND (created_at,seq)>(?,?))",
    "SEARCH w USING INDEX inbox_work_older (handler=? AND newest_key=?)",
  ]);
});
