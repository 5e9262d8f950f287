CREATE TABLE inbox_body (
    seq   INTEGER PRIMARY KEY,
    body  BLOB  NOT NULL,
    trace TEXT
  ) STRICT;

CREATE TABLE inbox_counter (
    name  TEXT   PRIMARY KEY,
    value INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

CREATE TABLE inbox_event (
    seq         INTEGER  PRIMARY KEY AUTOINCREMENT,
    id          TEXT    NOT NULL UNIQUE,
    type        TEXT    NOT NULL,
    test        INTEGER NOT NULL CHECK (test IN (0, 1)),
    received_at INTEGER  NOT NULL,
    signed_at   INTEGER  NOT NULL,
    body_length INTEGER NOT NULL,
    body_crc    INTEGER  NOT NULL
  ) STRICT;

CREATE TABLE inbox_failed (
    seq       INTEGER  NOT NULL,
    handler   TEXT    NOT NULL,
    attempt   INTEGER NOT NULL,
    stack     TEXT    NOT NULL,
    failed_at INTEGER  NOT NULL,
    PRIMARY KEY (seq, handler, attempt)
  ) STRICT, WITHOUT ROWID;

CREATE TABLE inbox_figure (
    resolution INTEGER NOT NULL,
    step       INTEGER NOT NULL,
    figures    TEXT   NOT NULL,
    PRIMARY KEY (resolution, step)
  ) STRICT;

CREATE TABLE inbox_handler (
    handler      TEXT    PRIMARY KEY,
    max_attempts INTEGER NOT NULL,
    types        TEXT    NOT NULL
  ) STRICT, WITHOUT ROWID;

CREATE TABLE inbox_job (
    job        INTEGER  PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    action     TEXT    NOT NULL,
    choice     TEXT    NOT NULL,
    created_by TEXT    NOT NULL,
    created_at INTEGER  NOT NULL,
    state      TEXT    NOT NULL CHECK (state IN ('open', 'done', 'cancelled', 'failed')),
    position   TEXT,
    total      INTEGER  NOT NULL,
    done       INTEGER  NOT NULL DEFAULT 0,
    skipped    INTEGER  NOT NULL DEFAULT 0,
    ended_at   INTEGER,
    error      TEXT,
    paused     INTEGER NOT NULL DEFAULT false,
    CHECK ((state = 'open') = (ended_at IS NULL))
  ) STRICT;

CREATE TABLE inbox_paused (
    handler   TEXT   PRIMARY KEY,
    since     INTEGER NOT NULL,
    paused_by TEXT   NOT NULL
  ) STRICT, WITHOUT ROWID;

CREATE TABLE inbox_process_status (
    process TEXT   PRIMARY KEY,
    at      INTEGER NOT NULL,
    status  TEXT   NOT NULL
  ) STRICT, WITHOUT ROWID;

CREATE TABLE inbox_repair (
    endpoint       TEXT   PRIMARY KEY,
    due_at         INTEGER NOT NULL,
    compared_until INTEGER,
    ended_at       INTEGER,
    missing        INTEGER,
    replayed       INTEGER,
    still_missing  INTEGER,
    refused        TEXT
  ) STRICT, WITHOUT ROWID;

CREATE TABLE inbox_secret (
    name  TEXT  PRIMARY KEY,
    value BLOB NOT NULL
  ) STRICT, WITHOUT ROWID;

CREATE TABLE inbox_step (
    seq      INTEGER NOT NULL,
    handler  TEXT   NOT NULL,
    name     TEXT   NOT NULL,
    value    TEXT   NOT NULL,
    saved_at INTEGER NOT NULL,
    PRIMARY KEY (seq, handler, name)
  ) STRICT, WITHOUT ROWID;

CREATE TABLE inbox_work (
    seq         INTEGER  NOT NULL,
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
    error_type  TEXT   ,
    error_group TEXT   ,
    failed_at   INTEGER,
    waits       INTEGER NOT NULL DEFAULT 0,
    wait_began  INTEGER,
    wait_holds  TEXT   ,
    discarded   INTEGER NOT NULL DEFAULT false,
    newest_key  TEXT   ,
    created_at  INTEGER,
    PRIMARY KEY (seq, handler),
    CHECK (CASE state
      WHEN 'leased' THEN lease IS NOT NULL AND lease_until IS NOT NULL
        AND due_at IS NULL AND settled_at IS NULL AND reason IS NULL AND NOT discarded AND handler <> ''
      WHEN 'done' THEN settled_at IS NOT NULL
        AND due_at IS NULL AND lease IS NULL AND lease_until IS NULL AND (reason IS NULL OR discarded)
        AND (handler <> '' OR discarded)
      WHEN 'pending' THEN due_at IS NOT NULL
        AND lease IS NULL AND lease_until IS NULL AND settled_at IS NULL AND reason IS NULL AND NOT discarded
        AND handler <> ''
      WHEN 'dead' THEN settled_at IS NOT NULL AND reason IS NOT NULL
        AND due_at IS NULL AND lease IS NULL AND lease_until IS NULL AND NOT discarded AND handler <> ''
      WHEN 'parked' THEN settled_at IS NOT NULL AND reason IS NOT NULL
        AND due_at IS NULL AND lease IS NULL AND lease_until IS NULL AND NOT discarded
      ELSE false
    END AND (newest_key IS NULL) = (created_at IS NULL)
      AND started >= finished AND finished >= waits AND waits >= 0 AND coalesce(wait_holds IN ('work', 'handler'), true))
  ) STRICT, WITHOUT ROWID;

CREATE TABLE outbox_event (
    seq         INTEGER  PRIMARY KEY,
    key         TEXT    NOT NULL,
    name        TEXT GENERATED ALWAYS AS (body ->> '$.name') VIRTUAL,
    body        TEXT    NOT NULL,
    occurred_at INTEGER  NOT NULL,
    recorded_at INTEGER  NOT NULL,
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
      ELSE false
    END)
  ) STRICT;

CREATE TABLE outbox_send (
    send        INTEGER  PRIMARY KEY,
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

CREATE TABLE sqlite_sequence(name,seq);

CREATE INDEX inbox_event_of_source ON inbox_event (substr(id, instr(id, '/') + 1))
    WHERE instr(id, '/') > 0;

CREATE INDEX inbox_job_open ON inbox_job (job) WHERE state = 'open';

CREATE INDEX inbox_work_failed
    ON inbox_work (handler, error_type, error_group, failed_at, state, finished, seq)
    WHERE failed_at IS NOT NULL;

CREATE INDEX inbox_work_holding ON inbox_work (handler, due_at)
    WHERE state = 'pending' AND wait_holds = 'handler' AND waits_since IS NOT NULL;

CREATE INDEX inbox_work_newest ON inbox_work (handler, newest_key, created_at, seq)
    WHERE newest_key IS NOT NULL;

CREATE INDEX inbox_work_older ON inbox_work (handler, newest_key, seq)
    WHERE newest_key IS NOT NULL AND state IN ('pending', 'dead', 'parked');

CREATE INDEX inbox_work_open ON inbox_work (state, seq) WHERE state <> 'done';

CREATE INDEX inbox_work_pending ON inbox_work (handler, min(started - finished, 2), due_at) WHERE state = 'pending';

CREATE INDEX inbox_work_requested ON inbox_work (seq)
    WHERE handler = '' AND state = 'parked' AND waits_since IS NOT NULL;

CREATE INDEX outbox_event_dead ON outbox_event (seq) WHERE state = 'dead';

CREATE INDEX outbox_event_dead_key ON outbox_event (key) WHERE state = 'dead';

CREATE INDEX outbox_event_inbox_seq ON outbox_event (inbox_seq) WHERE inbox_seq IS NOT NULL;

CREATE UNIQUE INDEX outbox_event_own_key ON outbox_event (key) WHERE NOT by_handler;

CREATE INDEX outbox_event_pending ON outbox_event (seq) WHERE state = 'pending';

CREATE INDEX outbox_event_send ON outbox_event (send, position) WHERE send IS NOT NULL;

CREATE INDEX outbox_send_open ON outbox_send (send) WHERE state <> 'dead';
