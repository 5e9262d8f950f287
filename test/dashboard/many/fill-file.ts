import Database from "better-sqlite3";
import { type ExampleEvent, exampleContactEvents, exampleEvents } from "./example-events.js";

/** Rows of one transaction. */
const PAGE = 20_000;

/** Writes the example's events past the package, into a file whose tables are there and that nobody has open. */
export function fillFile(file: string, total: number, now: number): void {
  const db = new Database(file);
  db.pragma("synchronous = OFF");
  const rows = prepareRows(db);
  for (const page of pagesOf(exampleEvents(total, now)))
    db.transaction(() => page.forEach((event) => rows.event(event)))();
  for (const page of pagesOf(exampleContactEvents(total, now))) {
    db.transaction(() => {
      for (const event of page) rows.contactEvent(event);
    })();
  }
  db.exec(`
    UPDATE inbox_counter SET value = ${2 * total} WHERE name = 'done'`);
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.close();
}

function prepareRows(db: Database.Database) {
  const insertEvent = db.prepare(`
    INSERT INTO inbox_event (seq, id, type, test, received_at, signed_at, body_length, body_crc)
    VALUES (:seq, :id, :type, 0, :receivedAt, :receivedAt, 600, 0)`);
  const insertBody = db.prepare("INSERT INTO inbox_body (seq, body) VALUES (?, ?)");
  const insertDone = db.prepare(`
    INSERT INTO inbox_work (seq, handler, state, settled_at, started, finished)
    VALUES (:seq, :handler, 'done', :at, :attempts, :attempts)`);
  const insertWork = db.prepare(`
    INSERT INTO inbox_work (seq, handler, state, due_at, waits_since, settled_at, started, finished, reason, error,
      error_type, error_group, failed_at)
    VALUES (:seq, :handler, :state, :dueAt, iif(:dueAt IS NULL, NULL, :at), iif(:dueAt IS NULL, :at, NULL), :attempts,
      :attempts, :reason, :error, :type, :group, :at)`);
  const insertFailed = db.prepare(
    "INSERT INTO inbox_failed (seq, handler, attempt, stack, failed_at) VALUES (:seq, :handler, 1, :stack, :receivedAt)",
  );
  const insertContactEvent = db.prepare(`
    INSERT INTO outbox_event (seq, key, body, occurred_at, recorded_at, by_handler, state, settled_at, reason, code,
      param, message, inbox_seq)
    VALUES (:seq, :key, :body, :at, :at, 1, :state, iif(:state IN ('dead', 'done'), :at, NULL),
      iif(:state = 'dead', 'refused', NULL), iif(:state = 'dead', 'contact_not_found', NULL),
      iif(:state = 'dead', 'email', NULL), iif(:state = 'dead', 'No contact has this address.', NULL), :inboxSeq)`);

  return {
    event({ seq, id, type, receivedAt, body, work }: ExampleEvent): void {
      insertEvent.run({ seq, id, type, receivedAt });
      if (body !== undefined) insertBody.run(seq, Buffer.from(body));
      for (const piece of work) {
        if (piece.state === "done") insertDone.run({ seq, ...piece });
        else {
          insertWork.run({ seq, type, ...piece });
          const stack = `${piece.error}\n    at run (app.js:1:1)`;
          if (piece.error !== null) insertFailed.run({ seq, handler: piece.handler, stack, receivedAt });
        }
      }
    },
    contactEvent: (row: object): void => void insertContactEvent.run(row),
  };
}

/** The rows, so many at a time. */
export function* pagesOf<Row>(rows: Iterable<Row>, most = PAGE): Generator<Row[]> {
  let page: Row[] = [];
  for (const row of rows) {
    page.push(row);
    if (page.length < most) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
