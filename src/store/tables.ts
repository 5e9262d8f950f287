/**
 * The tables that both stores have, in the words of PostgreSQL. Until the first release a change of the schema edits
 * them; a released step is never edited. Texts that are compared or sorted have the collation "C": an update of a
 * system's collations would change the order of the others, and a unique index could then let duplicates in.
 */
export const TABLES = `
  -- Never updated. Other bytes of an id take the place of an event that was not understood, with a number of their
  -- own. The body lives beside it so that dropping old bodies does not rewrite the dedup ids. No number is
  -- used twice: contact events keep the number of the event that they were recorded for.
  CREATE TABLE pigeonhole.inbox_event (
    seq         bigint  PRIMARY KEY,
    id          text    COLLATE "C" NOT NULL UNIQUE,
    type        text    COLLATE "C" NOT NULL,
    test        boolean NOT NULL,
    received_at bigint  NOT NULL,
    signed_at   bigint  NOT NULL,
    body_length integer NOT NULL,
    body_crc    bigint  NOT NULL
  );

  -- The id of an event from a named source begins with the name and a slash: people look for the service's id too.
  CREATE INDEX inbox_event_of_source ON pigeonhole.inbox_event (substr(id, strpos(id, '/') + 1))
    WHERE strpos(id, '/') > 0;

  -- trace: the span of the delivery, which others link to, in the form of the header traceparent, with tracestate after
  -- a space. NULL, which takes at most one byte, without telemetry.
  CREATE TABLE pigeonhole.inbox_body (
    seq   bigint PRIMARY KEY,
    body  bytea  NOT NULL,
    trace text
  );

  -- One event for one handler, from acceptance to retention: what is done never runs again. Handler '' is the note of
  -- an event that was not understood. discarded: a person ended it without a run, or it was superseded.
  -- waits_since: when the wait for the next try began. It tells a long wait from one whose end was computed by a clock
  -- that was ahead; NULL when the row does not wait. Work whose last run failed, or that is dead or parked, has the
  -- event's type, what the error has in common with others, and when. A retry by a person clears them. waits: runs that
  -- ended in RetryAfter, and count as no attempt; wait_began: the first of them; wait_holds: whether pending work or
  -- its handler waits, NULL where the last run that ended did not ask to. newest_key: a digest of the key of which only
  -- the newest event counts, and created_at the time in its envelope. One CHECK costs less than eight.
  CREATE TABLE pigeonhole.inbox_work (
    seq         bigint  NOT NULL,
    handler     text    COLLATE "C" NOT NULL,
    state       text    COLLATE "C" NOT NULL,
    due_at      bigint,
    lease       bigint,
    lease_until bigint,
    settled_at  bigint,
    started     integer NOT NULL,
    finished    integer NOT NULL,
    reason      text,
    error       text,
    waits_since bigint,
    error_type  text    COLLATE "C",
    error_group text    COLLATE "C",
    failed_at   bigint,
    waits       integer NOT NULL DEFAULT 0,
    wait_began  bigint,
    wait_holds  text    COLLATE "C",
    discarded   boolean NOT NULL DEFAULT false,
    newest_key  text    COLLATE "C",
    created_at  bigint,
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
  );

  CREATE INDEX inbox_work_requested ON pigeonhole.inbox_work (seq)
    WHERE handler = '' AND state = 'parked' AND waits_since IS NOT NULL;
  CREATE INDEX inbox_work_holding ON pigeonhole.inbox_work (handler, due_at)
    WHERE state = 'pending' AND wait_holds = 'handler' AND waits_since IS NOT NULL;
  CREATE INDEX inbox_work_newest ON pigeonhole.inbox_work (handler, newest_key, created_at, seq)
    WHERE newest_key IS NOT NULL;
  CREATE INDEX inbox_work_older ON pigeonhole.inbox_work (handler, newest_key, seq)
    WHERE newest_key IS NOT NULL AND state IN ('pending', 'dead', 'parked');
  CREATE INDEX inbox_work_failed
    ON pigeonhole.inbox_work (handler, error_type, error_group, failed_at, state, wait_holds, finished, seq)
    WHERE failed_at IS NOT NULL;

  -- Names and times of the steps of a handler that is done stay for people, until retention drops the body. saved_at:
  -- when it was kept, in milliseconds since 1970.
  CREATE TABLE pigeonhole.inbox_step (
    seq      bigint NOT NULL,
    handler  text   COLLATE "C" NOT NULL,
    name     text   COLLATE "C" NOT NULL,
    value    text   NOT NULL,
    saved_at bigint NOT NULL,
    PRIMARY KEY (seq, handler, name)
  );

  -- Errors in full of the first and the last failed run of a handler on an event, and when those ended. They outlive
  -- its work, and go with the body, which they may quote.
  CREATE TABLE pigeonhole.inbox_failed (
    seq       bigint  NOT NULL,
    handler   text    COLLATE "C" NOT NULL,
    attempt   integer NOT NULL,
    stack     text    NOT NULL,
    failed_at bigint  NOT NULL,
    PRIMARY KEY (seq, handler, attempt)
  );

  -- The retry policies of the handlers at the last start, and as JSON the types that they get, for those who only look
  -- at their work.
  CREATE TABLE pigeonhole.inbox_handler (
    handler      text    COLLATE "C" PRIMARY KEY,
    max_attempts integer NOT NULL,
    types        text    NOT NULL
  );

  -- Handlers that get no work until a person resumes them.
  CREATE TABLE pigeonhole.inbox_paused (
    handler   text   COLLATE "C" PRIMARY KEY,
    since     bigint NOT NULL,
    paused_by text   NOT NULL
  );

  -- Random bytes that all processes of this store share.
  CREATE TABLE pigeonhole.inbox_secret (
    name  text  COLLATE "C" PRIMARY KEY,
    value bytea NOT NULL
  );

  -- Changes of much work, a page at a time. choice and position are JSON; position is the last piece looked at.
  CREATE TABLE pigeonhole.inbox_job (
    job        bigint  PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    id         text    COLLATE "C" NOT NULL UNIQUE,
    action     text    COLLATE "C" NOT NULL,
    choice     text    NOT NULL,
    created_by text    NOT NULL,
    created_at bigint  NOT NULL,
    state      text    COLLATE "C" NOT NULL CHECK (state IN ('open', 'done', 'cancelled', 'failed')),
    position   text,
    total      bigint  NOT NULL,
    done       bigint  NOT NULL DEFAULT 0,
    ended_at   bigint,
    error      text,
    paused     boolean NOT NULL DEFAULT false,
    CHECK ((state = 'open') = (ended_at IS NULL))
  );
  CREATE INDEX inbox_job_open ON pigeonhole.inbox_job (job) WHERE state = 'open';

  -- The rounds in which missing events of an endpoint are brought in. due_at: no process begins one before.
  -- compared_until: failures from before were compared with the inbox. The rest is of the last round that has ended.
  CREATE TABLE pigeonhole.inbox_repair (
    endpoint       text   COLLATE "C" PRIMARY KEY,
    due_at         bigint NOT NULL,
    compared_until bigint,
    ended_at       bigint,
    missing        bigint,
    replayed       bigint,
    still_missing  bigint,
    refused        text
  );

  -- What each process last said of itself, as JSON. process: a UUID; elsewhere it is the number of inbox_process.
  CREATE TABLE pigeonhole.inbox_process_status (
    process text   COLLATE "C" PRIMARY KEY,
    at      bigint NOT NULL,
    status  text   NOT NULL
  );

  -- What happened in all processes together in one step of time, as JSON: some 400 bytes, and 170 for each handler that
  -- ran. resolution is the length of the step in milliseconds. Rows are changed in place, for which a page has room.
  CREATE TABLE pigeonhole.inbox_figure (
    resolution bigint NOT NULL,
    step       bigint NOT NULL,
    figures    text   NOT NULL,
    PRIMARY KEY (resolution, step)
  ) WITH (fillfactor = 50);

  -- Contact events to be sent, by their number among those that are pending: a number that becomes visible after a
  -- higher one is found as well. A body is small, so the state is beside it. What a handler records has no index of
  -- keys: its work is done once. attempts: tries of the calls that it was part of and no longer is. inbox_seq: the
  -- number of the inbox event whose handler recorded it; no other event gets the number once that one is removed.
  -- trace: the span in which it was recorded.
  CREATE TABLE pigeonhole.outbox_event (
    seq         bigint  PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    key         text    COLLATE "C" NOT NULL,
    name        text    COLLATE "C" NOT NULL,
    body        text    NOT NULL,
    occurred_at bigint  NOT NULL,
    recorded_at bigint  NOT NULL,
    by_handler  boolean NOT NULL,
    state       text    COLLATE "C" NOT NULL,
    send        bigint,
    position    integer,
    settled_at  bigint,
    remote_id   text,
    reason      text,
    code        text,
    param       text,
    message     text,
    attempts    integer NOT NULL DEFAULT 0,
    inbox_seq   bigint,
    trace       text,
    CHECK (CASE state
      WHEN 'pending' THEN send IS NULL AND position IS NULL AND settled_at IS NULL AND reason IS NULL
      WHEN 'leased' THEN send IS NOT NULL AND position IS NOT NULL AND settled_at IS NULL AND reason IS NULL
      WHEN 'done' THEN (send IS NULL) = (position IS NULL) AND settled_at IS NOT NULL AND reason IS NULL
      WHEN 'dead' THEN (send IS NULL) = (position IS NULL) AND settled_at IS NOT NULL AND reason IS NOT NULL
      ELSE false
    END)
  );

  CREATE UNIQUE INDEX outbox_event_own_key ON pigeonhole.outbox_event (key) WHERE NOT by_handler;
  CREATE INDEX outbox_event_pending ON pigeonhole.outbox_event (seq) WHERE state = 'pending';
  CREATE INDEX outbox_event_dead ON pigeonhole.outbox_event (seq) WHERE state = 'dead';
  CREATE INDEX outbox_event_dead_key ON pigeonhole.outbox_event (key) WHERE state = 'dead';
  CREATE INDEX outbox_event_send ON pigeonhole.outbox_event (send, position) WHERE send IS NOT NULL;
  CREATE INDEX outbox_event_inbox_seq ON pigeonhole.outbox_event (inbox_seq) WHERE inbox_seq IS NOT NULL;

  -- A call to the API: its members and their order are fixed before it is first made, and it is repeated as it was.
  CREATE TABLE pigeonhole.outbox_send (
    send        bigint  PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    key         text    COLLATE "C" NOT NULL,
    kind        text    COLLATE "C" NOT NULL CHECK (kind IN ('single', 'batch')),
    state       text    COLLATE "C" NOT NULL CHECK (state IN ('pending', 'leased', 'dead')),
    due_at      bigint,
    lease       bigint,
    lease_until bigint,
    started     integer NOT NULL,
    error       text,
    waits_since bigint,
    CHECK ((state = 'pending') = (due_at IS NOT NULL)),
    CHECK ((state = 'leased') = (lease IS NOT NULL)),
    CHECK ((state = 'leased') = (lease_until IS NOT NULL))
  );

  -- One at most is open; those that are dead stay for as long as they may be repeated.
  CREATE INDEX outbox_send_open ON pigeonhole.outbox_send (send) WHERE state <> 'dead';

  -- Numbers that all processes share: times and counts. On PostgreSQL, the count of runs done is inbox_done_count.
  CREATE TABLE pigeonhole.inbox_counter (
    name  text   COLLATE "C" PRIMARY KEY,
    value bigint NOT NULL
  );
`;
