/**
 * The steps of the schema; `PRAGMA user_version` counts those that have run. Until the first release there is one,
 * which a change of the schema edits. A released step is never edited: a change is then a new one at the end.
 * `test/store/schema.sql` is the dump they lead to, compared in a test.
 */
export const MIGRATIONS: readonly string[] = [
  `
  -- Never updated. The body lives beside it so that dropping old bodies does not rewrite the dedup ids. No number is
  -- used twice: contact events keep the number of the event that they were recorded for.
  CREATE TABLE inbox_event (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT    NOT NULL UNIQUE,
    type        TEXT    NOT NULL,
    test        INTEGER NOT NULL CHECK (test IN (0, 1)),
    received_at INTEGER NOT NULL,
    signed_at   INTEGER NOT NULL,
    body_length INTEGER NOT NULL,
    body_crc    INTEGER NOT NULL
  ) STRICT;

  -- trace: the span of the delivery, which others link to, in the form of the header traceparent, with tracestate after
  -- a space. NULL, which takes one byte, without telemetry.
  CREATE TABLE inbox_body (
    seq   INTEGER PRIMARY KEY,
    body  BLOB    NOT NULL,
    trace TEXT
  ) STRICT;

  -- One event for one handler, from acceptance to retention. Handler '' is the note of an event that was not
  -- understood. discarded: a person ended it without a run, or another body of its id took its place. waits_since: when
  -- the wait for the next try began. It tells a long wait from one whose end was computed by a clock that was ahead;
  -- NULL when the row does not wait. Work whose last run failed, or that is dead or parked, has the event's type, what
  -- the error has in common with others, and when. A retry by a person clears them. One CHECK costs less than eight.
  CREATE TABLE inbox_work (
    seq         INTEGER NOT NULL,
    handler     TEXT    NOT NULL,
    state       TEXT    NOT NULL,
    due_at      INTEGER,
    lease       INTEGER,
    lease_until INTEGER,
    settled_at  INTEGER,
    started     INTEGER NOT NULL,
    finished    INTEGER NOT NULL,
    reason      TEXT,
    error       TEXT,
    waits_since INTEGER,
    error_type  TEXT,
    error_group TEXT,
    failed_at   INTEGER,
    discarded   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (seq, handler),
    CHECK (CASE state
      WHEN 'leased' THEN lease IS NOT NULL AND lease_until IS NOT NULL
        AND due_at IS NULL AND settled_at IS NULL AND reason IS NULL AND discarded = 0 AND handler <> ''
      WHEN 'done' THEN settled_at IS NOT NULL AND discarded IN (0, 1)
        AND due_at IS NULL AND lease IS NULL AND lease_until IS NULL AND reason IS NULL
      WHEN 'pending' THEN due_at IS NOT NULL
        AND lease IS NULL AND lease_until IS NULL AND settled_at IS NULL AND reason IS NULL AND discarded = 0
        AND handler <> ''
      WHEN 'dead' THEN settled_at IS NOT NULL AND reason IS NOT NULL
        AND due_at IS NULL AND lease IS NULL AND lease_until IS NULL AND discarded = 0 AND handler <> ''
      WHEN 'parked' THEN settled_at IS NOT NULL AND reason IS NOT NULL
        AND due_at IS NULL AND lease IS NULL AND lease_until IS NULL AND discarded = 0
      ELSE 0
    END AND started >= finished AND finished >= 0)
  ) STRICT, WITHOUT ROWID;

  -- started - finished counts the processes that died in it: 0, 1, or 2 and more.
  CREATE INDEX inbox_work_pending ON inbox_work (handler, min(started - finished, 2), due_at) WHERE state = 'pending';
  CREATE INDEX inbox_work_open ON inbox_work (state, seq) WHERE state <> 'done';
  CREATE INDEX inbox_work_requested ON inbox_work (seq)
    WHERE handler = '' AND state = 'parked' AND waits_since IS NOT NULL;
  CREATE INDEX inbox_work_failed ON inbox_work (handler, error_type, error_group, failed_at, state, finished)
    WHERE failed_at IS NOT NULL;

  -- saved_at: when it was kept, in milliseconds since 1970.
  CREATE TABLE inbox_step (
    seq      INTEGER NOT NULL,
    handler  TEXT    NOT NULL,
    name     TEXT    NOT NULL,
    value    TEXT    NOT NULL,
    saved_at INTEGER NOT NULL,
    PRIMARY KEY (seq, handler, name)
  ) STRICT, WITHOUT ROWID;

  -- Errors in full of the first and the last failed run of a handler on an event, and when those ended. They outlive
  -- its work, and go with the body, which they may quote.
  CREATE TABLE inbox_failed (
    seq       INTEGER NOT NULL,
    handler   TEXT    NOT NULL,
    attempt   INTEGER NOT NULL,
    stack     TEXT    NOT NULL,
    failed_at INTEGER NOT NULL,
    PRIMARY KEY (seq, handler, attempt)
  ) STRICT, WITHOUT ROWID;

  -- Another body of an id whose first one was parked and never handled.
  CREATE TABLE inbox_other (
    seq   INTEGER PRIMARY KEY,
    first INTEGER NOT NULL
  ) STRICT;

  CREATE INDEX inbox_other_first ON inbox_other (first);

  -- Which of the bodies of an id a handler has: at most one of them takes effect. 0 for one that retention has dropped.
  CREATE TABLE inbox_holder (
    first   INTEGER NOT NULL,
    handler TEXT    NOT NULL,
    seq     INTEGER NOT NULL,
    PRIMARY KEY (first, handler)
  ) STRICT, WITHOUT ROWID;

  -- The retry policies of the handlers at the last start, for those who only look at their work.
  CREATE TABLE inbox_handler (
    handler      TEXT    PRIMARY KEY,
    max_attempts INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Handlers that get no work until a person resumes them.
  CREATE TABLE inbox_paused (
    handler   TEXT    PRIMARY KEY,
    since     INTEGER NOT NULL,
    paused_by TEXT    NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Random bytes that all processes of this store share.
  CREATE TABLE inbox_secret (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Changes of much work, a page at a time. choice and position are JSON; position is the last piece looked at.
  CREATE TABLE inbox_job (
    job        INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    action     TEXT    NOT NULL,
    choice     TEXT    NOT NULL,
    created_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    state      TEXT    NOT NULL CHECK (state IN ('open', 'done', 'cancelled', 'failed')),
    position   TEXT,
    total      INTEGER NOT NULL,
    done       INTEGER NOT NULL DEFAULT 0,
    skipped    INTEGER NOT NULL DEFAULT 0,
    ended_at   INTEGER,
    error      TEXT,
    CHECK ((state = 'open') = (ended_at IS NULL))
  ) STRICT;
  CREATE INDEX inbox_job_open ON inbox_job (job) WHERE state = 'open';

  -- What each process last said of itself, as JSON.
  CREATE TABLE inbox_process_status (
    process TEXT    PRIMARY KEY,
    at      INTEGER NOT NULL,
    status  TEXT    NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- What happened in all processes together in one step of time, as JSON: some 400 bytes, and 170 for each handler that
  -- ran. resolution is the length of the step in milliseconds. With rowids, a page has room for more of these rows.
  CREATE TABLE inbox_figure (
    resolution INTEGER NOT NULL,
    step       INTEGER NOT NULL,
    figures    TEXT    NOT NULL,
    PRIMARY KEY (resolution, step)
  ) STRICT;

  -- Contact events to be sent. A body is small, so the state is beside it. What a handler records has no index of keys:
  -- its work is done once. attempts: tries of the calls that it was part of and no longer is. inbox_seq: the number of
  -- the inbox event whose handler recorded it; no other event gets the number once that one is removed. trace: the span
  -- in which it was recorded. One CHECK on the state costs less than five.
  CREATE TABLE outbox_event (
    seq         INTEGER PRIMARY KEY,
    key         TEXT    NOT NULL,
    name        TEXT    GENERATED ALWAYS AS (body ->> '$.name') VIRTUAL,
    body        TEXT    NOT NULL,
    occurred_at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    by_handler  INTEGER NOT NULL CHECK (by_handler IN (0, 1)),
    state       TEXT    NOT NULL,
    send        INTEGER,
    position    INTEGER,
    settled_at  INTEGER,
    remote_id   TEXT,
    reason      TEXT,
    code        TEXT,
    param       TEXT,
    message     TEXT,
    attempts    INTEGER NOT NULL DEFAULT 0,
    inbox_seq   INTEGER,
    trace       TEXT,
    CHECK (CASE state
      WHEN 'pending' THEN send IS NULL AND position IS NULL AND settled_at IS NULL AND reason IS NULL
      WHEN 'leased' THEN send IS NOT NULL AND position IS NOT NULL AND settled_at IS NULL AND reason IS NULL
      WHEN 'done' THEN (send IS NULL) = (position IS NULL) AND settled_at IS NOT NULL AND reason IS NULL
      WHEN 'dead' THEN (send IS NULL) = (position IS NULL) AND settled_at IS NOT NULL AND reason IS NOT NULL
      ELSE 0
    END)
  ) STRICT;

  CREATE UNIQUE INDEX outbox_event_own_key ON outbox_event (key) WHERE by_handler = 0;
  CREATE INDEX outbox_event_pending ON outbox_event (seq) WHERE state = 'pending';
  CREATE INDEX outbox_event_dead ON outbox_event (seq) WHERE state = 'dead';
  CREATE INDEX outbox_event_dead_key ON outbox_event (key) WHERE state = 'dead';
  CREATE INDEX outbox_event_send ON outbox_event (send, position) WHERE send IS NOT NULL;
  CREATE INDEX outbox_event_inbox_seq ON outbox_event (inbox_seq) WHERE inbox_seq IS NOT NULL;

  -- A call to the API: its members and their order are fixed before it is first made, and it is repeated as it was.
  CREATE TABLE outbox_send (
    send        INTEGER PRIMARY KEY,
    key         TEXT    NOT NULL,
    kind        TEXT    NOT NULL CHECK (kind IN ('single', 'batch')),
    state       TEXT    NOT NULL CHECK (state IN ('pending', 'leased', 'dead')),
    due_at      INTEGER,
    lease       INTEGER,
    lease_until INTEGER,
    started     INTEGER NOT NULL,
    error       TEXT,
    waits_since INTEGER,
    CHECK ((state = 'pending') = (due_at IS NOT NULL)),
    CHECK ((state = 'leased') = (lease IS NOT NULL)),
    CHECK ((state = 'leased') = (lease_until IS NOT NULL))
  ) STRICT;

  -- One at most is open; those that are dead stay for as long as they may be repeated.
  CREATE INDEX outbox_send_open ON outbox_send (send) WHERE state <> 'dead';

  CREATE TABLE counter (
    name  TEXT    PRIMARY KEY,
    value INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- done: runs that were settled as done. epoch: how often a process took the file over.
  INSERT INTO counter (name, value) VALUES ('done', 0), ('epoch', 0);
  `,
];

/** The tables that they create. The user's own ones may have any other name. */
export const STORE_TABLES: readonly string[] = [
  "inbox_event",
  "inbox_body",
  "inbox_work",
  "inbox_step",
  "outbox_event",
  "outbox_send",
  "counter",
  "inbox_other",
  "inbox_holder",
  "inbox_handler",
  "inbox_failed",
  "inbox_paused",
  "inbox_secret",
  "inbox_job",
  "inbox_process_status",
  "inbox_figure",
];
