import { describe, expect, test } from "vitest";
import { expectRefusal, withDatabase } from "./checked-tables.js";

// The last line of defence: what the statements must never do, the tables do not take either.

const COLUMNS = "seq, handler, state, due_at, lease, lease_until, settled_at, started, finished, reason";

/** Rows that are right, each in its state. */
const LEGAL = {
  pending: { due_at: 1, lease: null, lease_until: null, settled_at: null, reason: null },
  leased: { due_at: null, lease: 1, lease_until: 1, settled_at: null, reason: null },
  dead: { due_at: null, lease: null, lease_until: null, settled_at: 1, reason: "'r'" },
  parked: { due_at: null, lease: null, lease_until: null, settled_at: 1, reason: "'r'" },
};

type State = keyof typeof LEGAL;
type Column = keyof (typeof LEGAL)["pending"];

const STATES = Object.keys(LEGAL) as State[];

function insertWork(state: State, change: Partial<Record<Column, string | number | null>> = {}): string {
  const { due_at, lease, lease_until, settled_at, reason } = { ...LEGAL[state], ...change };
  const values = [1, "'h'", `'${state}'`, due_at, lease, lease_until, settled_at, 1, 0, reason];
  return `INSERT INTO inbox_work (${COLUMNS}) VALUES (${values.map((value) => value ?? "NULL").join(", ")})`;
}

describe("the checks of the table of work", () => {
  test.each(STATES)("work that is %s is accepted with the columns of its state", (state) => {
    expect(
      withDatabase((db) => db.exec(insertWork(state)).prepare("SELECT count(*) FROM inbox_work").pluck().get()),
    ).toBe(1);
  });

  const columns = Object.keys(LEGAL.pending) as Column[];
  const wrong = STATES.flatMap((state) =>
    columns.map(
      (column) => [state, column, LEGAL[state][column] === null ? (column === "reason" ? "'r'" : 1) : null] as const,
    ),
  );
  test.each(wrong)("work that is %s is refused with %s %s", (state, column, value) => {
    expectRefusal("", insertWork(state, { [column]: value }));
    expectRefusal(insertWork(state), `UPDATE inbox_work SET ${column} = ${value ?? "NULL"}`);
  });

  const moves = STATES.flatMap((from) => [...STATES, ""].flatMap((to) => (from === to ? [] : [[from, to] as const])));
  const alike = new Set(["dead-parked", "parked-dead"]);
  test.each(moves.filter(([from, to]) => !alike.has(`${from}-${to}`)))(
    "work cannot be moved from %s to %j by its state alone",
    (from, to) => {
      expectRefusal(insertWork(from), `UPDATE inbox_work SET state = '${to}'`);
    },
  );

  test.each([
    ["more runs ended than begun", "finished = 2"],
    ["a negative count", "finished = -1, started = -1"],
    ["no count", "started = NULL"],
    ["a text for a time", "due_at = 'tomorrow'"],
    ["no handler, which only a note has", "handler = ''"],
    ["no state", "state = NULL"],
    ["a mark that it was discarded, which only done work has", "discarded = 1"],
  ])("work is refused with %s", (_, change) => {
    expectRefusal(insertWork("pending"), `UPDATE inbox_work SET ${change}`);
  });

  test("work exists once for each event and handler", () => {
    expectRefusal(insertWork("pending"), insertWork("leased"));
  });
});

describe("the checks of the other tables", () => {
  const event = (change: Record<string, string> = {}): string => {
    const row = {
      id: "'e'",
      type: "'t'",
      test: "0",
      received_at: "1",
      signed_at: "1",
      body_length: "1",
      body_crc: "1",
      ...change,
    };
    return `INSERT INTO inbox_event (${Object.keys(row).join(", ")}) VALUES (${Object.values(row).join(", ")})`;
  };

  test.each([
    ["a second event with the same id", event(), event({ type: "'u'" })],
    ["an event without an id", "", event({ id: "NULL" })],
    ["an event without a type", "", event({ type: "NULL" })],
    ["a test mark that is no mark", "", event({ test: "2" })],
    ["a text for a time", "", event({ received_at: "'now'" })],
    ["a body that is a text", "", "INSERT INTO inbox_body (seq, body) VALUES (1, 'text')"],
    ["no body", "", "INSERT INTO inbox_body (seq, body) VALUES (1, NULL)"],
    [
      "a second value of a step",
      "INSERT INTO inbox_step (seq, handler, name, value, saved_at) VALUES (1, 'h', 'a', '1', 1)",
      "INSERT INTO inbox_step (seq, handler, name, value, saved_at) VALUES (1, 'h', 'a', '2', 1)",
    ],
    ["a second counter of a name", "", "INSERT INTO inbox_counter VALUES ('done', 1)"],
  ])("a table refuses %s", (_, setUp, sql) => {
    expectRefusal(setUp, sql);
  });
});
