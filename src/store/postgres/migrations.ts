import { TABLES } from "../tables.js";
import { FIRST_PROCESS } from "./advisory-lock.js";
import { ended } from "./operations/settle.js";

/**
 * The steps of the schema; the table `migration` has a row for each that has run. Until the first release there is
 * one, which a change of the schema edits. A released step is never edited: a change is then a new one at the end.
 */
export const POSTGRES_MIGRATIONS: readonly string[] = [
  `${TABLES}
  -- Numbers of events in the order of their arrival at one process. A number may become visible after a higher one.
  CREATE SEQUENCE pigeonhole.inbox_event_number;

  -- Retention deletes as many rows as are stored: their space is used again before a fifth of the table is dead.
  ALTER TABLE pigeonhole.inbox_event SET (autovacuum_vacuum_scale_factor = 0.1);
  ALTER TABLE pigeonhole.inbox_body SET (autovacuum_vacuum_scale_factor = 0.1);

  -- A process that runs handlers holds the advisory lock of its number. missing_since: when another process first saw
  -- that the lock is gone, on the server that was started at missing_on. ended: it has closed the store.
  CREATE TABLE pigeonhole.inbox_process (
    id            integer     PRIMARY KEY,
    server_start  timestamptz NOT NULL,
    missing_since timestamptz,
    missing_on    timestamptz,
    ended         boolean     NOT NULL
  );
  CREATE SEQUENCE pigeonhole.inbox_process_number AS integer MINVALUE ${FIRST_PROCESS} CYCLE;

  -- key: a digest of the key that the work has asked for. It has it while key_lease is its lease; while it waits for
  -- it, it is not leased.
  -- Nearly all rows are done, and in no index but the first. Each leaves a dead row and dead entries of the small
  -- indexes, which every look for work passes: by default, a vacuum would first come after a fifth of all rows.
  ALTER TABLE pigeonhole.inbox_work
    ADD COLUMN process integer,
    ADD COLUMN key text COLLATE "C",
    ADD COLUMN key_lease bigint,
    ADD COLUMN waits_for_key boolean NOT NULL DEFAULT false,
    ADD CHECK ((state = 'leased') = (process IS NOT NULL)),
    ADD CHECK (NOT waits_for_key OR (state = 'pending' AND key IS NOT NULL)),
    SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000);

  -- started - finished counts the processes that died in it: 0, 1, or 2 and more.
  CREATE INDEX inbox_work_pending ON pigeonhole.inbox_work (handler, least(started - finished, 2), due_at, seq)
    WHERE state = 'pending' AND NOT waits_for_key;
  CREATE INDEX inbox_work_waiting ON pigeonhole.inbox_work (handler, key, due_at, seq) WHERE waits_for_key;
  CREATE INDEX inbox_work_of_key ON pigeonhole.inbox_work (handler, key) WHERE key IS NOT NULL AND NOT waits_for_key;
  CREATE INDEX inbox_work_leased ON pigeonhole.inbox_work (lease_until) WHERE state = 'leased';
  CREATE INDEX inbox_work_unleased ON pigeonhole.inbox_work (state, seq)
    WHERE state IN ('pending', 'dead', 'parked');

  -- Runs settled as done, a row for each batch: one row that all add to would let them wait for one another.
  CREATE TABLE pigeonhole.inbox_done_count (
    id   bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    done bigint NOT NULL
  );

  -- Ends one lease of work that is done, for ctx.commit: in one round trip, with plans that each session keeps. Lets
  -- the transaction wait for the disk and the standby, whatever the defaults are. False where the lease is lost or its
  -- row is locked. By its lease alone: with the state, the plan may read through the index of all leases, which has
  -- many dead entries beside an old transaction.
  CREATE FUNCTION pigeonhole.settle_done(
    of_seq bigint, of_handler text, of_lease bigint, ended_at bigint, drops_steps boolean
  ) RETURNS boolean LANGUAGE plpgsql SET random_page_cost = 0 AS $$
  BEGIN
    UPDATE pigeonhole.inbox_work SET ${ended("ended_at")} WHERE ctid = (
      SELECT ctid FROM pigeonhole.inbox_work
      WHERE seq = of_seq AND handler = of_handler AND lease = of_lease FOR UPDATE SKIP LOCKED
    );
    IF NOT FOUND THEN
      RETURN false;
    END IF;
    INSERT INTO pigeonhole.inbox_done_count (done) VALUES (1);
    IF drops_steps THEN
      UPDATE pigeonhole.inbox_step SET value = '' WHERE seq = of_seq AND handler = of_handler;
    END IF;
    IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    RETURN true;
  END $$;

  ALTER TABLE pigeonhole.outbox_send ADD COLUMN process integer, ADD CHECK ((state = 'leased') = (process IS NOT NULL));

  -- The process that makes the calls, in one row.
  CREATE TABLE pigeonhole.outbox_sender (
    id      integer     PRIMARY KEY CHECK (id = 1),
    process integer     NOT NULL,
    used_at timestamptz NOT NULL
  );
  `,
];
