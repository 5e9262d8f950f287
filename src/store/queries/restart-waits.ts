import type { WorkPiece } from "../bulk-jobs.js";
import { type StoreQuery, readFirst, readRows, run } from "./store-query.js";

/** Work that is looked at in one transaction: deliveries wait for it, and a server ends what takes long. */
const PAGE = 1_000;

/**
 * A wait that began later than now, under a clock that was ahead, begins now; one whose beginning is not noted is over.
 */
const RESTART = "due_at = :now::bigint + due_at - coalesce(waits_since, due_at), waits_since = :now::bigint";
const BEGAN_LATER = "state = 'pending' AND due_at > :now AND coalesce(waits_since, due_at) > :now";

/** What others have locked is restarted by them, or planned again. */
const lockWork = (where: string): string => `
  SELECT seq, handler FROM pigeonhole.inbox_work WHERE state <> 'done' AND ${where}
  ORDER BY seq, handler FOR UPDATE SKIP LOCKED`;

const LAST_OF_PAGE = `
  SELECT seq FROM pigeonhole.inbox_work WHERE state <> 'done' AND state = 'pending' AND seq > :after
  ORDER BY seq LIMIT 1 OFFSET ${PAGE - 1}`;

/** What is corrected: waits after the event `after`, 0 for the first page, and leases. */
export interface RestartedPage {
  now: number;
  leaseUntil: number;
  after: number;
}

/**
 * Corrects what was written while the clock was ahead: waits for a next try keep their intended length, and leases end
 * as those given now. In one transaction. `next`: where the next page begins; undefined after the last.
 */
export function* restartPage(page: RestartedPage): StoreQuery<{ restarted: number; next: number | undefined }> {
  let restarted = 0;
  if (page.after === 0) {
    const longer = yield* readRows<WorkPiece>(lockWork("state = 'leased' AND lease_until > :leaseUntil"), page);
    yield* change("lease_until = :leaseUntil", longer, page);
    restarted += yield* run(`UPDATE pigeonhole.outbox_send SET ${RESTART} WHERE ${BEGAN_LATER}`, page);
  }
  const last = yield* readFirst<{ seq: number }>(LAST_OF_PAGE, page);
  const range = { ...page, last: last?.seq ?? Number.MAX_SAFE_INTEGER };
  const wrong = yield* readRows<WorkPiece>(lockWork(`${BEGAN_LATER} AND seq > :after AND seq <= :last`), range);
  return { restarted: restarted + (yield* change(RESTART, wrong, page)), next: last?.seq };
}

function* change(set: string, pieces: readonly WorkPiece[], limits: RestartedPage): StoreQuery<number> {
  if (pieces.length === 0) return 0;
  return yield* run(
    `UPDATE pigeonhole.inbox_work AS w SET ${set} FROM unnest(:seqs::bigint[], :handlers::text[]) AS p (of_seq, of_handler)
     WHERE w.seq = p.of_seq AND w.handler = p.of_handler`,
    { ...limits, seqs: pieces.map(({ seq }) => seq), handlers: pieces.map(({ handler }) => handler) },
  );
}

/** Runs all pages, each by itself: what others ask for runs between two. Returns how many waits were too long. */
export async function restartAll(
  runPage: (after: number) => Promise<{ restarted: number; next: number | undefined }>,
): Promise<number> {
  let restarted = 0;
  for (let after: number | undefined = 0; after !== undefined;) {
    const page = await runPage(after);
    restarted += page.restarted;
    after = page.next;
  }
  return restarted;
}
