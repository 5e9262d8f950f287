import { describe, expect, test } from "vitest";
import { expectRefusal, withDatabase } from "./checked-tables.js";

// As sqlite-checks.test.ts, for the two tables of the outbox.

type Row = Record<string, string | number | null>;

const EVENT: Row = {
  key: "'k'",
  body: "'{}'",
  occurred_at: 1,
  recorded_at: 1,
  by_handler: 0,
  state: "'pending'",
  send: null,
  position: null,
  settled_at: null,
  remote_id: null,
  reason: null,
};
const SEND: Row = { send: 1, key: "'k'", kind: "'batch'", due_at: 1, lease: null, lease_until: null, started: 1 };

/** Rows that are right, each in its state. */
const EVENTS: Record<string, Row> = {
  pending: EVENT,
  leased: { ...EVENT, state: "'leased'", send: 1, position: 0 },
  done: { ...EVENT, state: "'done'", settled_at: 1, remote_id: "'cev_1'" },
  "done in a call": { ...EVENT, state: "'done'", settled_at: 1, send: 1, position: 0 },
  dead: { ...EVENT, state: "'dead'", settled_at: 1, reason: "'refused'" },
  "dead in a call": { ...EVENT, state: "'dead'", settled_at: 1, reason: "'too_old'", send: 1, position: 0 },
};
const SENDS: Record<string, Row> = {
  pending: { ...SEND, state: "'pending'" },
  leased: { ...SEND, state: "'leased'", due_at: null, lease: 1, lease_until: 1 },
  dead: { ...SEND, state: "'dead'", due_at: null },
};

const insert = (table: string, row: Row): string =>
  `INSERT INTO ${table} (${Object.keys(row).join(", ")})
   VALUES (${Object.values(row)
     .map((value) => value ?? "NULL")
     .join(", ")})`;

function expectTaken(sql: string, table: string): void {
  expect(withDatabase((db) => db.exec(sql).prepare(`SELECT count(*) FROM ${table}`).pluck().get())).toBe(1);
}

describe.each([
  ["an event", "outbox_event", EVENTS],
  ["a call", "outbox_send", SENDS],
])("%s of the outbox", (_, table, rows) => {
  const names = Object.keys(rows);

  test.each(names)("an outbox row that is %s is accepted with the columns of its state", (name) => {
    expectTaken(insert(table, rows[name] ?? {}), table);
  });

  const stateOf = (name: string): string => String(rows[name]?.["state"]);
  const moves = names.flatMap((from) =>
    [...new Set(names.map((name) => stateOf(name))), "'parked'", "''", "NULL"].flatMap((to) =>
      stateOf(from) === to ? [] : [[from, to] as const],
    ),
  );
  test.each(moves)("an outbox row cannot be moved from %s to %s by its state alone", (from, to) => {
    expectRefusal(insert(table, rows[from] ?? {}), `UPDATE ${table} SET state = ${to}`);
  });
});

describe("the checks of outbox events", () => {
  test.each([
    ["pending", "send = 1, position = 0"],
    ["pending", "position = 0"],
    ["pending", "settled_at = 1"],
    ["pending", "reason = 'refused'"],
    ["leased", "send = NULL"],
    ["leased", "position = NULL"],
    ["leased", "send = NULL, position = NULL"],
    ["leased", "settled_at = 1"],
    ["leased", "reason = 'refused'"],
    ["done", "settled_at = NULL"],
    ["done", "reason = 'refused'"],
    ["done", "send = 1"],
    ["dead", "settled_at = NULL"],
    ["dead", "reason = NULL"],
    ["dead", "position = 0"],
    ["dead in a call", "position = NULL"],
    ["pending", "body = NULL"],
    ["pending", "key = NULL"],
    ["pending", "by_handler = 2"],
    ["pending", "occurred_at = NULL"],
    ["pending", "occurred_at = 'now'"],
    ["pending", "recorded_at = NULL"],
    ["leased", "position = 'first'"],
  ])("an outbox event that is %s is refused with %s", (name, change) => {
    expectRefusal(insert("outbox_event", EVENTS[name] ?? {}), `UPDATE outbox_event SET ${change}`);
  });

  test("an outbox event is refused if its key is taken, unless a done mark guarantees it", () => {
    const other = { ...EVENTS["done"], body: "'{\"other\":1}'" };
    expectRefusal(insert("outbox_event", EVENT), insert("outbox_event", other));
    withDatabase((db) => {
      db.exec(insert("outbox_event", EVENT)).exec(insert("outbox_event", { ...other, by_handler: 1 }));
    });
  });
});

describe("the checks of outbox calls", () => {
  test.each([
    ["pending", "due_at = NULL"],
    ["pending", "lease = 1"],
    ["pending", "lease_until = 1"],
    ["leased", "due_at = 1"],
    ["leased", "lease = NULL"],
    ["leased", "lease_until = NULL"],
    ["dead", "due_at = 1"],
    ["dead", "lease = 1"],
    ["dead", "lease_until = 1"],
    ["pending", "kind = 'many'"],
    ["pending", "kind = NULL"],
    ["pending", "key = NULL"],
    ["pending", "started = NULL"],
    ["pending", "due_at = 'tomorrow'"],
  ])("an outbox call that is %s is refused with %s", (name, change) => {
    expectRefusal(insert("outbox_send", SENDS[name] ?? {}), `UPDATE outbox_send SET ${change}`);
  });
});
