import { FIRST_NODE } from "./advisory-lock.js";
import { ended } from "./operations/ended.js";

/**
 * The steps of the schema; the table `migration` has a row for each that has run. Until the first release there is
 * one, which a change of the schema edits. A released step is never edited: a change is then a new one at the end.
 * Texts that are compared or sorted have the collation "C": an update of the system's collations would change the order
 * of the others, and a unique index could then let duplicates in.
 */
export const POSTGRES_MIGRATIONS: readonly string[] = [
  `
  -- Numbers of events in the order of their arrival at one node. A number may become visible after a higher one.
  CREATE SEQUENCE pigeonhole.inbox_event_number;

  -- Never updated. The body lives beside it so that dropping old bodies does not rewrite the ids.
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

  -- Those that came before the first slot was opened, and those that outlive their slot; a query finds those of the
  -- slots too. trace: the span of the delivery, which others link to, in the form of the header traceparent, with
  -- tracestate after a space. NULL, which takes no space, without telemetry.
  CREATE TABLE pigeonhole.inbox_body (
    seq   bigint PRIMARY KEY,
    body  bytea  NOT NULL,
    trace text
  );

  -- Bodies by the time of their arrival: those of a slot end together, and TRUNCATE gives their disk back.
  CREATE TABLE pigeonhole.inbox_body_1 (PRIMARY KEY (seq)) INHERITS (pigeonhole.inbox_body);
  CREATE TABLE pigeonhole.inbox_body_2 (PRIMARY KEY (seq)) INHERITS (pigeonhole.inbox_body);
  CREATE TABLE pigeonhole.inbox_body_3 (PRIMARY KEY (seq)) INHERITS (pigeonhole.inbox_body);
  CREATE TABLE pigeonhole.inbox_body_4 (PRIMARY KEY (seq)) INHERITS (pigeonhole.inbox_body);
  CREATE TABLE pigeonhole.inbox_body_5 (PRIMARY KEY (seq)) INHERITS (pigeonhole.inbox_body);
  CREATE TABLE pigeonhole.inbox_body_6 (PRIMARY KEY (seq)) INHERITS (pigeonhole.inbox_body);
  CREATE TABLE pigeonhole.inbox_body_7 (PRIMARY KEY (seq)) INHERITS (pigeonhole.inbox_body);
  CREATE TABLE pigeonhole.inbox_body_8 (PRIMARY KEY (seq)) INHERITS (pigeonhole.inbox_body);

  -- The slots that may have bodies. Those of new events go into the one that was opened last; when that was, no more
  -- come into the one before. clear_at: since when no work that is not done has its body in it.
  CREATE TABLE pigeonhole.body_slot (
    slot      integer PRIMARY KEY,
    opened    bigint  NOT NULL GENERATED ALWAYS AS IDENTITY,
    opened_at bigint  NOT NULL,
    clear_at  bigint
  );

  -- A process that runs handlers holds the advisory lock of its number. missing_since: when another process first saw
  -- that the lock is gone, on the server that was started at missing_on. ended: it has closed the store.
  CREATE TABLE pigeonhole.node (
    id            integer     PRIMARY KEY,
    server_start  timestamptz NOT NULL,
    missing_since timestamptz,
    missing_on    timestamptz,
    ended         boolean     NOT NULL
  );
  CREATE SEQUENCE pigeonhole.node_number AS integer MINVALUE ${FIRST_NODE} CYCLE;

  -- What became of one event for one handler, from its arrival to retention: what is done never runs again. Handler ''
  -- is the note of an event that was not understood. discarded: ended without a run. key: a digest of the key that it
  -- has had to wait for. While it waits for it, it is not leased. Work whose last run failed, or that is dead or
  -- parked, has the event's type, what the error has in common with others, and when. A retry by a person clears them.
  -- Nearly all rows are done, and in no index but the first. Each leaves a dead row and dead entries of the small
  -- indexes, which every look for work passes: by default, a vacuum would first come after a fifth of all rows.
  CREATE TABLE pigeonhole.inbox_work (
    seq         bigint  NOT NULL,
    handler     text    COLLATE "C" NOT NULL,
    state       text    COLLATE "C" NOT NULL CHECK (state IN ('pending', 'leased', 'done', 'dead', 'parked')),
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
    discarded   boolean NOT NULL DEFAULT false,
    node        integer,
    key         text    COLLATE "C",
    waits_for_key boolean NOT NULL DEFAULT false,
    PRIMARY KEY (seq, handler),
    CHECK (NOT waits_for_key OR (state = 'pending' AND key IS NOT NULL)),
    CHECK ((state = 'pending') = (due_at IS NOT NULL)),
    CHECK ((state = 'leased') = (lease IS NOT NULL)),
    CHECK ((state = 'leased') = (lease_until IS NOT NULL)),
    CHECK ((state = 'leased') = (node IS NOT NULL)),
    CHECK ((state IN ('done', 'dead', 'parked')) = (settled_at IS NOT NULL)),
    CHECK ((state IN ('dead', 'parked')) = (reason IS NOT NULL)),
    CHECK (started >= finished AND finished >= 0),
    CHECK (NOT discarded OR state = 'done'),
    CHECK (handler <> '' OR state = 'parked' OR discarded)
  ) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000);

  -- started - finished counts the processes that died in it: 0, 1, or 2 and more.
  CREATE INDEX inbox_work_pending ON pigeonhole.inbox_work (handler, least(started - finished, 2), due_at, seq)
    WHERE state = 'pending' AND NOT waits_for_key;
  CREATE INDEX inbox_work_waiting ON pigeonhole.inbox_work (handler, key, due_at, seq) WHERE waits_for_key;
  CREATE INDEX inbox_work_of_key ON pigeonhole.inbox_work (handler, key) WHERE key IS NOT NULL AND NOT waits_for_key;
  CREATE INDEX inbox_work_leased ON pigeonhole.inbox_work (lease_until) WHERE state = 'leased';
  CREATE INDEX inbox_work_unleased ON pigeonhole.inbox_work (state, seq)
    WHERE state IN ('pending', 'dead', 'parked');
  CREATE INDEX inbox_work_requested ON pigeonhole.inbox_work (seq)
    WHERE handler = '' AND state = 'parked' AND waits_since IS NOT NULL;
  CREATE INDEX inbox_work_failed
    ON pigeonhole.inbox_work (handler, error_type, error_group, failed_at, state, finished, seq)
    WHERE failed_at IS NOT NULL;

  -- Runs settled as done, a row for each batch: one row that all add to would let them wait for one another.
  CREATE TABLE pigeonhole.done_count (
    id   bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    done bigint NOT NULL
  );

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

  -- Ends one lease of work that is done, for ctx.commit: in one round trip, with plans that each session keeps. Lets
  -- the transaction wait for the disk and the standby, whatever the defaults are. Returns its number, and null where
  -- the lease is lost or its row is locked. By its lease alone: with the state, the plan may read through the index of
  -- all leases, which has many dead entries beside an old transaction.
  CREATE FUNCTION pigeonhole.settle_done(
    of_seq bigint, of_handler text, of_lease bigint, ended_at bigint, drops_steps boolean
  ) RETURNS text LANGUAGE plpgsql SET random_page_cost = 0 AS $$
  BEGIN
    UPDATE pigeonhole.inbox_work SET ${ended("ended_at")} WHERE ctid = (
      SELECT ctid FROM pigeonhole.inbox_work
      WHERE seq = of_seq AND handler = of_handler AND lease = of_lease FOR UPDATE SKIP LOCKED
    );
    IF NOT FOUND THEN
      RETURN NULL;
    END IF;
    INSERT INTO pigeonhole.done_count (done) VALUES (1);
    IF drops_steps THEN
      UPDATE pigeonhole.inbox_step SET value = '' WHERE seq = of_seq AND handler = of_handler;
    END IF;
    IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    RETURN pg_current_xact_id()::text;
  END $$;

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

  -- The retry policies of the handlers at the last start, for those who only look at their work.
  CREATE TABLE pigeonhole.inbox_handler (
    handler      text    COLLATE "C" PRIMARY KEY,
    max_attempts integer NOT NULL
  );

  -- Another body of an id whose first one was parked and never handled.
  CREATE TABLE pigeonhole.inbox_other (
    seq   bigint PRIMARY KEY,
    first bigint NOT NULL
  );
  CREATE INDEX inbox_other_first ON pigeonhole.inbox_other (first);

  -- Which of the bodies of an id a handler has: at most one of them takes effect.
  CREATE TABLE pigeonhole.inbox_holder (
    first   bigint NOT NULL,
    handler text   COLLATE "C" NOT NULL,
    seq     bigint NOT NULL,
    PRIMARY KEY (first, handler)
  );

  -- Which leased work of a handler has a key, of all processes: that under this token, for as long as it is leased.
  CREATE TABLE pigeonhole.inbox_key (
    handler text   COLLATE "C" NOT NULL,
    key     text   COLLATE "C" NOT NULL,
    seq     bigint NOT NULL,
    lease   bigint NOT NULL,
    PRIMARY KEY (handler, key)
  );

  -- Contact events to be sent, by their number among those that are pending: a number that becomes visible after a
  -- higher one is found as well. trace: the span in which it was recorded.
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
    attempts    integer NOT NULL DEFAULT 0,
    settled_at  bigint,
    remote_id   text,
    reason      text,
    code        text,
    param       text,
    message     text,
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
  -- By the inbox event whose handler recorded it, whose number no other event gets once that one is removed.
  CREATE INDEX outbox_event_inbox_seq ON pigeonhole.outbox_event (inbox_seq, seq) WHERE inbox_seq IS NOT NULL;

  -- A call to the API: its members and their order are fixed before it is first made, and it is repeated as it was.
  CREATE TABLE pigeonhole.outbox_send (
    send        bigint  PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    key         text    COLLATE "C" NOT NULL,
    kind        text    COLLATE "C" NOT NULL CHECK (kind IN ('single', 'batch')),
    state       text    COLLATE "C" NOT NULL CHECK (state IN ('pending', 'leased', 'dead')),
    due_at      bigint,
    waits_since bigint,
    lease       bigint,
    lease_until bigint,
    node        integer,
    started     integer NOT NULL,
    error       text,
    CHECK ((state = 'pending') = (due_at IS NOT NULL)),
    CHECK ((state = 'leased') = (lease IS NOT NULL)),
    CHECK ((state = 'leased') = (lease_until IS NOT NULL)),
    CHECK ((state = 'leased') = (node IS NOT NULL))
  );
  CREATE INDEX outbox_send_open ON pigeonhole.outbox_send (send) WHERE state <> 'dead';

  -- The process that makes the calls, in one row.
  CREATE TABLE pigeonhole.outbox_sender (
    id      integer     PRIMARY KEY CHECK (id = 1),
    node    integer     NOT NULL,
    used_at timestamptz NOT NULL
  );

  -- Times that receivers know.
  CREATE TABLE pigeonhole.counter (
    name  text   COLLATE "C" PRIMARY KEY,
    value bigint NOT NULL
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
    skipped    bigint  NOT NULL DEFAULT 0,
    ended_at   bigint,
    error      text,
    CHECK ((state = 'open') = (ended_at IS NULL))
  );
  CREATE INDEX inbox_job_open ON pigeonhole.inbox_job (job) WHERE state = 'open';

  -- What each process last said of itself, as JSON.
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
  `,
];
