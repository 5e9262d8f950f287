import type { CopiedEvent, CopiedOthers } from "../../copied-rows.js";
import type { Sql } from "../sql.js";

const INSERT_EVENTS = `
  WITH given AS MATERIALIZED (
    SELECT nextval('pigeonhole.inbox_event_number') AS seq, g.*
    FROM unnest(:ids::text[], :types::text[], :tests::boolean[], :receivedAts::bigint[], :signedAts::bigint[],
      :lengths::integer[], :crcs::bigint[]) WITH ORDINALITY
      AS g (id, type, test, received_at, signed_at, body_length, body_crc, place)
  ), stored AS (
    INSERT INTO pigeonhole.inbox_event (seq, id, type, test, received_at, signed_at, body_length, body_crc)
    SELECT seq, id, type, test, received_at, signed_at, body_length, body_crc FROM given ORDER BY id COLLATE "C"
    ON CONFLICT (id) DO NOTHING RETURNING seq
  )
  SELECT place, seq FROM given JOIN stored USING (seq)`;

/** The bodies are one parameter, which is sent as it is; a list of them would be sent as text. */
const INSERT_BODIES = `
  INSERT INTO pigeonhole.inbox_body (seq, body, trace)
  SELECT seq, substring(:bodies::bytea FROM at + 1 FOR length), trace
  FROM unnest(:seqs::bigint[], :ats::integer[], :lengths::integer[], :traces::text[]) AS b (seq, at, length, trace)`;

const INSERT_WORK = `
  WITH given AS (
    INSERT INTO pigeonhole.inbox_work
      (seq, handler, state, due_at, waits_since, settled_at, started, finished, reason, error,
        error_type, error_group, failed_at, discarded)
    SELECT seq, handler, state, CASE state WHEN 'pending' THEN coalesce(due_at, :now::bigint) END, waits_since,
      settled_at, started, finished, reason, error, error_type, error_group, failed_at, discarded
    FROM unnest(:seqs::bigint[], :handlers::text[], :states::text[], :dueAts::bigint[], :waitsSinces::bigint[],
      :settledAts::bigint[], :starteds::integer[], :finisheds::integer[], :reasons::text[], :errors::text[],
      :errorTypes::text[], :errorGroups::text[], :failedAts::bigint[], :discardeds::boolean[])
      AS w (seq, handler, state, due_at, waits_since, settled_at, started, finished, reason, error, error_type,
        error_group, failed_at, discarded)
    RETURNING state, discarded
  )
  INSERT INTO pigeonhole.done_count (done)
  SELECT count(*) FROM given WHERE state = 'done' AND NOT discarded HAVING count(*) > 0`;

const INSERT_STEPS = `
  INSERT INTO pigeonhole.inbox_step (seq, handler, name, value, saved_at)
  SELECT * FROM unnest(:seqs::bigint[], :handlers::text[], :names::text[], :values::text[], :ats::bigint[]) AS s`;

const INSERT_FAILED = `
  INSERT INTO pigeonhole.inbox_failed (seq, handler, attempt, stack, failed_at)
  SELECT * FROM unnest(:seqs::bigint[], :handlers::text[], :attempts::integer[], :stacks::text[], :ats::bigint[]) AS f`;

type Stored = CopiedEvent & { seq: number };

/**
 * Stores copied events with all that belongs to them, except those whose id is known: they were copied before. Returns
 * how many were new. In one transaction.
 */
export async function copyEvents(sql: Sql, events: readonly CopiedEvent[], now: number): Promise<number> {
  const rows = await sql.rows<{ place: number; seq: number }>(INSERT_EVENTS, {
    ids: events.map(({ id }) => id),
    types: events.map(({ type }) => type),
    tests: events.map(({ test }) => test),
    receivedAts: events.map(({ receivedAt }) => receivedAt),
    signedAts: events.map(({ signedAt }) => signedAt),
    lengths: events.map(({ bodyLength }) => bodyLength),
    crcs: events.map(({ bodyCrc }) => bodyCrc),
  });
  const stored = rows.map(({ place, seq }): Stored => ({ ...(events[place - 1] as CopiedEvent), seq }));
  await insertBodies(sql, stored);
  await insertWork(sql, stored, now);
  await insertTexts(sql, stored);
  return stored.length;
}

async function insertBodies(sql: Sql, stored: readonly Stored[]): Promise<void> {
  const found = stored.flatMap(({ seq, body, trace }) => (body === undefined ? [] : [{ seq, body, trace }]));
  let at = 0;
  await sql.run(INSERT_BODIES, {
    seqs: found.map(({ seq }) => seq),
    ats: found.map(({ body }) => (at += body.byteLength) - body.byteLength),
    lengths: found.map(({ body }) => body.byteLength),
    traces: found.map(({ trace }) => trace),
    bodies: Buffer.concat(found.map(({ body }) => body)),
  });
}

async function insertWork(sql: Sql, stored: readonly Stored[], now: number): Promise<void> {
  const work = stored.flatMap((event) => event.work.map((piece) => ({ ...piece, seq: event.seq })));
  if (work.length === 0) return;
  await sql.run(INSERT_WORK, {
    seqs: work.map(({ seq }) => seq),
    handlers: work.map(({ handler }) => handler),
    states: work.map(({ state }) => state),
    dueAts: work.map(({ dueAt }) => dueAt),
    waitsSinces: work.map(({ waitsSince }) => waitsSince),
    settledAts: work.map(({ settledAt }) => settledAt),
    starteds: work.map(({ started }) => started),
    finisheds: work.map(({ finished }) => finished),
    reasons: work.map(({ reason }) => reason),
    errors: work.map(({ error }) => error),
    errorTypes: work.map(({ errorType }) => errorType),
    errorGroups: work.map(({ errorGroup }) => errorGroup),
    failedAts: work.map(({ failedAt }) => failedAt),
    discardeds: work.map(({ discarded }) => discarded),
    now,
  });
}

async function insertTexts(sql: Sql, stored: readonly Stored[]): Promise<void> {
  const steps = stored.flatMap((event) => event.steps.map((step) => ({ ...step, seq: event.seq })));
  await sql.run(INSERT_STEPS, {
    seqs: steps.map(({ seq }) => seq),
    handlers: steps.map(({ handler }) => handler),
    names: steps.map(({ name }) => name),
    values: steps.map(({ value }) => value),
    ats: steps.map(({ at }) => at),
  });
  const failed = stored.flatMap((event) => event.failed.map((run) => ({ ...run, seq: event.seq })));
  await sql.run(INSERT_FAILED, {
    seqs: failed.map(({ seq }) => seq),
    handlers: failed.map(({ handler }) => handler),
    attempts: failed.map(({ attempt }) => attempt),
    stacks: failed.map(({ stack }) => stack),
    ats: failed.map(({ at }) => at),
  });
}

const INSERT_OTHERS = `
  INSERT INTO pigeonhole.inbox_other (seq, first)
  SELECT o.seq, f.seq FROM unnest(:ids::text[], :firsts::text[]) AS g (id, first)
  JOIN pigeonhole.inbox_event AS o ON o.id = g.id JOIN pigeonhole.inbox_event AS f ON f.id = g.first
  ON CONFLICT (seq) DO NOTHING`;

/** A holder that is gone has the number 0. */
const INSERT_HOLDERS = `
  INSERT INTO pigeonhole.inbox_holder (first, handler, seq)
  SELECT f.seq, g.handler, coalesce(h.seq, 0)
  FROM unnest(:firsts::text[], :handlers::text[], :ids::text[]) AS g (first, handler, id)
  JOIN pigeonhole.inbox_event AS f ON f.id = g.first LEFT JOIN pigeonhole.inbox_event AS h ON h.id = g.id
  ON CONFLICT (first, handler) DO NOTHING`;

/** Stores which of the copied events are bodies of one id. In one transaction. */
export async function copyOthers(sql: Sql, { others, holders }: CopiedOthers): Promise<void> {
  await sql.run(INSERT_OTHERS, { ids: others.map(({ id }) => id), firsts: others.map(({ first }) => first) });
  await sql.run(INSERT_HOLDERS, {
    firsts: holders.map(({ first }) => first),
    handlers: holders.map(({ handler }) => handler),
    ids: holders.map(({ id }) => id),
  });
}
