import type { MentionsEmail } from "../../../base/mentions-email.js";
import type { EraseCounts } from "../../erase.js";
import type { Sql } from "../sql.js";
import { endWork } from "../../queries/ending-work.js";
import { runOnServer } from "../run-on-server.js";

/** One page is one transaction, and its bodies are read at once. */
export const ERASED_ROWS = 200;
const PAGE_BYTES = 4 * 1024 * 1024;

const SELECT_PAGE = `
  WITH page AS (
    SELECT seq, coalesce(sum(body_length) OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes
    FROM (
      SELECT seq, body_length FROM pigeonhole.inbox_event WHERE seq > :afterSeq AND seq <= :throughSeq
      ORDER BY seq LIMIT ${ERASED_ROWS}) AS e
  )
  SELECT p.seq, b.body, array(
    SELECT error FROM pigeonhole.inbox_work AS w WHERE w.seq = p.seq AND error IS NOT NULL
    UNION ALL SELECT stack FROM pigeonhole.inbox_failed AS f WHERE f.seq = p.seq
    UNION ALL SELECT name FROM pigeonhole.inbox_step AS s WHERE s.seq = p.seq
    UNION ALL SELECT value FROM pigeonhole.inbox_step AS s WHERE s.seq = p.seq) AS texts
  FROM page AS p LEFT JOIN pigeonhole.inbox_body AS b ON b.seq = p.seq WHERE p.bytes < ${PAGE_BYTES} ORDER BY p.seq`;

/** What is looked for, and what is done with it. */
export interface ErasureTask {
  mentions: MentionsEmail;
  now: number;
  dryRun: boolean;
}

/** Rows of a list after one number, through another. */
export interface EraseRange {
  afterSeq: number;
  throughSeq: number;
}

/** What was found in the rows of a page, and the last of them. */
export interface ErasedRows {
  counts: Partial<EraseCounts>[];
  lastSeq: number | undefined;
}

/** What an event keeps is its row and its ended work: a redelivery is a duplicate, and nothing runs twice. */
export async function eraseEvents(sql: Sql, range: EraseRange, task: ErasureTask): Promise<ErasedRows> {
  const rows = await sql.rows<{ seq: number; body: Uint8Array | null; texts: string[] }>(SELECT_PAGE, { ...range });
  const counts: Partial<EraseCounts>[] = [];
  for (const { seq, body, texts } of rows) {
    const isFound = (body !== null && task.mentions(body)) || texts.some(task.mentions);
    if (isFound) counts.push(await eraseEvent(sql, seq, task));
  }
  return { counts, lastSeq: rows.at(-1)?.seq };
}

async function eraseEvent(sql: Sql, seq: number, { now, dryRun }: ErasureTask): Promise<Partial<EraseCounts>> {
  await sql.run("SELECT 1 FROM pigeonhole.inbox_event WHERE seq = :seq FOR UPDATE", { seq });
  const work = dryRun ? await countWaiting(sql, seq) : await runOnServer(sql, endWork({ seq, now }));
  const handled = await sql.row("SELECT 1 AS found FROM pigeonhole.inbox_work WHERE seq = :seq AND state = 'leased'", {
    seq,
  });
  if (handled !== undefined) return { work, eventsLeft: 1 };
  if (!dryRun) {
    await sql.run("DELETE FROM pigeonhole.inbox_body WHERE seq = :seq", { seq });
    await sql.run("DELETE FROM pigeonhole.inbox_failed WHERE seq = :seq", { seq });
    await sql.run("DELETE FROM pigeonhole.inbox_step WHERE seq = :seq", { seq });
  }
  return { work, events: 1 };
}

async function countWaiting(sql: Sql, seq: number): Promise<number> {
  const row = await sql.row<{ rows: number }>(
    "SELECT count(*) AS rows FROM pigeonhole.inbox_work WHERE seq = :seq AND state NOT IN ('leased', 'done')",
    { seq },
  );
  return row?.rows ?? 0;
}
