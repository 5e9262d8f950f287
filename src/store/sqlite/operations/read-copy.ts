import type { Database } from "better-sqlite3";
import type { CopiedCall, CopiedContactEvent, CopiedEvent, CopiedOthers, CopiedWork } from "../../copied-rows.js";

/** Rows of a page, and about how many bytes their bodies may have. */
const PAGE_EVENTS = 200;
const PAGE_BYTES = 8 * 1024 * 1024;

const NO_BODY = { body: undefined, trace: null };

/** A page of rows, and where the next one begins. */
export interface CopyPage<Row> {
  rows: Row[];
  /** Undefined on the last page. */
  after: number | undefined;
}

type EventRow = Omit<CopiedEvent, "test" | "body" | "trace" | "work" | "steps" | "failed"> & {
  seq: number;
  test: 0 | 1;
};

type OfEvent<Row> = Row & { seq: number };

/** Reads pages of events in the order of acceptance, each with all that belongs to it. */
export function prepareReadEvents(db: Database): (after: number) => CopyPage<CopiedEvent> {
  const selectEvents = db.prepare<{ after: number }, EventRow>(`
    SELECT seq, id, type, test, received_at AS receivedAt, signed_at AS signedAt, body_length AS bodyLength,
      body_crc AS bodyCrc
    FROM inbox_event WHERE seq > :after ORDER BY seq LIMIT ${PAGE_EVENTS}`);
  const selectBody = db.prepare<[number], Pick<CopiedEvent, "body" | "trace">>(
    "SELECT body, trace FROM inbox_body WHERE seq = ?",
  );
  const parts = prepareParts(db);

  return (after) => {
    const found = selectEvents.all({ after });
    const events = upToBytes(found);
    const range = { first: events[0]?.seq ?? 0, last: events.at(-1)?.seq ?? 0 };
    const [work, steps, failed] = [parts.work(range), parts.steps(range), parts.failed(range)];
    const rows = events.map(({ seq, test, ...event }): CopiedEvent => ({
      ...event,
      test: test === 1,
      ...(selectBody.get(seq) ?? NO_BODY),
      work: work(seq).map((piece) => ({ ...piece, discarded: piece.discarded === 1 })),
      steps: steps(seq),
      failed: failed(seq),
    }));
    return { rows, after: found.length < PAGE_EVENTS && rows.length === found.length ? undefined : range.last };
  };
}

/** The rows before the one with which the bodies would be too many bytes; the first in any case. */
function upToBytes(rows: readonly EventRow[]): readonly EventRow[] {
  let bytes = 0;
  const end = rows.findIndex(({ bodyLength }) => (bytes += bodyLength) > PAGE_BYTES);
  return end === -1 ? rows : rows.slice(0, Math.max(1, end));
}

interface Range {
  first: number;
  last: number;
}

/** The rows of each event of a range. */
function prepareParts(db: Database) {
  const prepare = <Row>(sql: string) => {
    const select = db.prepare<Range, OfEvent<Row>>(sql);
    return (range: Range): ((seq: number) => Row[]) => {
      const ofEvent = new Map<number, Row[]>();
      for (const { seq, ...row } of select.all(range)) {
        ofEvent.set(seq, [...(ofEvent.get(seq) ?? []), row as unknown as Row]);
      }
      return (seq) => ofEvent.get(seq) ?? [];
    };
  };
  const ofRange = "seq BETWEEN :first AND :last";
  return {
    work: prepare<Omit<CopiedWork, "discarded"> & { discarded: 0 | 1 }>(`
      SELECT seq, handler, iif(state = 'leased', 'pending', state) AS state,
        due_at AS dueAt, waits_since AS waitsSince, settled_at AS settledAt, started,
        finished, reason, error, error_type AS errorType, error_group AS errorGroup, failed_at AS failedAt, discarded
      FROM inbox_work WHERE ${ofRange}`),
    steps: prepare<CopiedEvent["steps"][number]>(
      `SELECT seq, handler, name, value, saved_at AS at FROM inbox_step WHERE ${ofRange}`,
    ),
    failed: prepare<CopiedEvent["failed"][number]>(
      `SELECT seq, handler, attempt, stack, failed_at AS at FROM inbox_failed WHERE ${ofRange}`,
    ),
  };
}

/** Reads which events are bodies of one id; there are few. */
export function prepareReadOthers(db: Database): () => CopiedOthers {
  const others = db.prepare<[], CopiedOthers["others"][number]>(`
    SELECT e.id, f.id AS first FROM inbox_other AS o
    JOIN inbox_event AS e ON e.seq = o.seq JOIN inbox_event AS f ON f.seq = o.first`);
  const holders = db.prepare<[], CopiedOthers["holders"][number]>(`
    SELECT f.id AS first, h.handler, e.id FROM inbox_holder AS h
    JOIN inbox_event AS f ON f.seq = h.first LEFT JOIN inbox_event AS e ON e.seq = h.seq`);
  return () => ({ others: others.all(), holders: holders.all() });
}

type OutboxCopyRow = Omit<CopiedContactEvent, "byHandler" | "call"> & {
  seq: number;
  byHandler: 0 | 1;
  callKey: string | null;
  callKind: CopiedCall["kind"];
  callState: CopiedCall["state"];
  callDueAt: number | null;
  callWaitsSince: number | null;
  callStarted: number;
  callError: string | null;
};

/** Reads pages of contact events in the order of recording. */
export function prepareReadContactEvents(db: Database): (after: number) => CopyPage<CopiedContactEvent> {
  const select = db.prepare<{ after: number }, OutboxCopyRow>(`
    SELECT e.seq, e.key, e.body, e.occurred_at AS occurredAt, e.recorded_at AS recordedAt, e.by_handler AS byHandler,
      i.id AS inboxEventId,
      e.state, e.position, e.attempts, e.settled_at AS settledAt,
      e.remote_id AS remoteId, e.reason, e.code, e.param, e.message, e.trace, s.key AS callKey, s.kind AS callKind,
      iif(s.state = 'leased', 'pending', s.state) AS callState,
      s.due_at AS callDueAt, s.waits_since AS callWaitsSince,
      s.started AS callStarted, s.error AS callError
    FROM outbox_event AS e LEFT JOIN outbox_send AS s ON s.send = e.send
    LEFT JOIN inbox_event AS i ON i.seq = e.inbox_seq
    WHERE e.seq > :after ORDER BY e.seq LIMIT ${PAGE_EVENTS}`);

  return (after) => {
    const found = select.all({ after });
    return { rows: found.map(toContactEvent), after: found.length < PAGE_EVENTS ? undefined : found.at(-1)?.seq };
  };
}

function toContactEvent(row: OutboxCopyRow): CopiedContactEvent {
  const {
    seq: _,
    byHandler,
    callKey,
    callKind,
    callState,
    callDueAt,
    callWaitsSince,
    callStarted,
    callError,
    ...event
  } = row;
  const call =
    callKey === null
      ? undefined
      : {
          key: callKey,
          kind: callKind,
          state: callState,
          dueAt: callDueAt,
          waitsSince: callWaitsSince,
          started: callStarted,
          error: callError,
        };
  return { ...event, byHandler: byHandler === 1, position: call === undefined ? null : event.position, call };
}

/** Reads the retry policies of the handlers, as `[handler, runs]`. */
export function prepareReadPolicies(db: Database): () => { handler: string; maxAttempts: number }[] {
  const select = db.prepare<[], { handler: string; maxAttempts: number }>(
    "SELECT handler, max_attempts AS maxAttempts FROM inbox_handler",
  );
  return () => select.all();
}
