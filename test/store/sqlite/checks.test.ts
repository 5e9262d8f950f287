import { afterAll, expect, test } from "vitest";
import { migrate, openDatabase } from "#pigeonhole/store/sqlite/open-database.js";

// The last line of defence: what the statements must never do, the tables do not take either.

type Row = Record<string, string | number | null>;

const WORK: Row = { seq: 1, handler: "'h'", state: "'pending'", due_at: 1, started: 1, finished: 0 };
const SETTLED: Row = { ...WORK, due_at: null, settled_at: 1, reason: "'r'" };
const EVENT: Row = {
  key: "'k'",
  name: "'n'",
  body: "'{}'",
  occurred_at: 1,
  recorded_at: 1,
  by_handler: 0,
  state: "'pending'",
};
const SEND: Row = { send: 1, key: "'k'", kind: "'batch'", state: "'pending'", due_at: 1, started: 1 };

/** Rows that are right, by table, each in its state, and changes of them that are refused, one by one. */
const ROWS: Record<string, Record<string, [right: Row, ...wrong: string[]]>> = {
  inbox_work: {
    pending: [
      WORK,
      "due_at = NULL; lease = 1; lease_until = 1; settled_at = 1; reason = 'r'; discarded = 1",
      "finished = 2; finished = -1, started = -1; state = NULL; started = NULL; handler = ''",
      "due_at = 'tomorrow'",
    ],
    leased: [
      { ...WORK, state: "'leased'", due_at: null, lease: 1, lease_until: 1 },
      "due_at = 1; lease = NULL; lease_until = NULL; settled_at = 1; reason = 'r'",
    ],
    dead: [{ ...SETTLED, state: "'dead'" }, "due_at = 1; lease = 1; lease_until = 1; settled_at = NULL; reason = NULL"],
    parked: [
      { ...SETTLED, state: "'parked'" },
      "due_at = 1; lease = 1; lease_until = 1; settled_at = NULL; reason = NULL",
    ],
  },
  outbox_event: {
    pending: [
      EVENT,
      "send = 1, position = 0; position = 0; settled_at = 1; reason = 'refused'; body = NULL; key = NULL",
      "by_handler = 2; occurred_at = NULL; occurred_at = 'now'; recorded_at = NULL",
    ],
    leased: [
      { ...EVENT, state: "'leased'", send: 1, position: 0 },
      "send = NULL; position = NULL; send = NULL, position = NULL; settled_at = 1; reason = 'refused'",
      "position = 'first'",
    ],
    done: [
      { ...EVENT, state: "'done'", settled_at: 1, remote_id: "'cev_1'" },
      "settled_at = NULL; reason = 'refused'; send = 1",
    ],
    "done in a call": [{ ...EVENT, state: "'done'", settled_at: 1, send: 1, position: 0 }],
    dead: [
      { ...EVENT, state: "'dead'", settled_at: 1, reason: "'refused'" },
      "settled_at = NULL; reason = NULL; position = 0",
    ],
    "dead in a call": [
      { ...EVENT, state: "'dead'", settled_at: 1, reason: "'too_old'", send: 1, position: 0 },
      "position = NULL",
    ],
  },
  outbox_send: {
    pending: [
      SEND,
      "due_at = NULL; lease = 1; lease_until = 1; kind = 'many'; kind = NULL; key = NULL",
      "started = NULL; due_at = 'tomorrow'",
    ],
    leased: [
      { ...SEND, state: "'leased'", due_at: null, lease: 1, lease_until: 1 },
      "due_at = 1; lease = NULL; lease_until = NULL",
    ],
    dead: [{ ...SEND, state: "'dead'", due_at: null }, "due_at = 1", "lease = 1", "lease_until = 1"],
  },
};

const insert = (table: string, row: Row): string =>
  `INSERT INTO ${table} (${Object.keys(row).join(", ")})
   VALUES (${Object.values(row)
     .map((value) => value ?? "NULL")
     .join(", ")})`;

const db = openDatabase(":memory:");
migrate(db, ":memory:");
afterAll(() => void db.close());

/** Uses the tables of a store with nothing in them, and leaves nothing. */
function withTables<Result>(use: () => Result): Result {
  db.exec("BEGIN");
  try {
    return use();
  } finally {
    db.exec("ROLLBACK");
  }
}

function expectRefusal(setUp: string, sql: string): void {
  withTables(() => {
    db.exec(setUp);
    expect(() => db.exec(sql), sql).toThrow(/constraint failed|cannot store/);
  });
}

const cases = Object.entries(ROWS).flatMap(([table, rows]) =>
  Object.entries(rows).map(([name, [row, ...wrong]]) => ({ table, name, row, wrong: wrong.join("; ") })),
);

test.each(cases)("a row of $table that is $name is accepted, and refused with each wrong column", (each) => {
  const { table, row, wrong } = each;
  expect(withTables(() => db.exec(insert(table, row)).prepare(`SELECT count(*) FROM ${table}`).pluck().get())).toBe(1);
  for (const change of wrong === "" ? [] : wrong.split("; "))
    expectRefusal(insert(table, row), `UPDATE ${table} SET ${change}`);
});

test("an outbox event is refused if its key is taken, unless a done mark guarantees it", () => {
  const other = { ...EVENT, state: "'done'", settled_at: 1, remote_id: "'cev_1'", body: "'{\"other\":1}'" };
  expectRefusal(insert("outbox_event", EVENT), insert("outbox_event", other));
  withTables(() => {
    db.exec(insert("outbox_event", EVENT)).exec(insert("outbox_event", { ...other, by_handler: 1 }));
  });
});

const INBOX_EVENT: Row = { id: "'e'", type: "'t'", test: 0, received_at: 1, signed_at: 1, body_length: 1, body_crc: 1 };
const event = (change: Row = {}): string => insert("inbox_event", { ...INBOX_EVENT, ...change });
const step = (value: number): string =>
  insert("inbox_step", { seq: 1, handler: "'h'", name: "'a'", value: `'${value}'`, saved_at: 1 });

test.each([
  [
    "work for the same event and handler",
    insert("inbox_work", WORK),
    insert("inbox_work", { ...SETTLED, state: "'dead'" }),
  ],
  ["a second event with the same id", event(), event({ type: "'u'" })],
  ["an event without an id", "", event({ id: null })],
  ["an event without a type", "", event({ type: null })],
  ["a test mark that is no mark", "", event({ test: 2 })],
  ["a text for a time", "", event({ received_at: "'now'" })],
  ["a body that is a text", "", "INSERT INTO inbox_body (seq, body) VALUES (1, 'text')"],
  ["no body", "", "INSERT INTO inbox_body (seq, body) VALUES (1, NULL)"],
  ["a second value of a step", step(1), step(2)],
  ["a second counter of a name", "", "INSERT INTO inbox_counter VALUES ('done', 1)"],
])("a table refuses %s", (_, setUp, sql) => {
  expectRefusal(setUp, sql);
});
