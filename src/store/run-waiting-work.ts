import { setTimeout as sleep } from "node:timers/promises";
import type { WorkChoice } from "./inbox-view.js";
import { findWaiting, runPieces } from "./queries/waiting-work.js";
import type { QueryRunner } from "./query-runner.js";
import type { FoundWaiting, RunCounts, RunRequest, WaitingPlace } from "./waiting-work.js";

/** Pages without chosen work that are read one after the other; then a job notes how far it is. */
const EMPTY_PAGES = 10;

/** Makes chosen work due that waits for its next run, a page at a time beside the receivers. */
export async function runWaitingWork(runner: QueryRunner, choice: WorkChoice): Promise<RunCounts> {
  const { write, pace } = runner;
  const events = new Set<number>();
  let work = 0;
  let from: WaitingPlace | undefined;
  do {
    const found = await findPieces(runner, () => ({ choice, from }));
    from = found.next;
    if (found.pieces.length === 0) continue;
    const ran = await write("running waiting work", (now) => runPieces(found, now, pace));
    from = ran.next;
    for (const { seq } of ran.pieces) events.add(seq);
    work += ran.pieces.length;
    if (pace.pauseMs > 0) await sleep(pace.pauseMs);
  } while (from !== undefined);
  return { events: events.size, work };
}

/** Reads without a lock, on to the next page that has chosen work, but not for long. */
export async function findPieces(
  { readAt, pace }: QueryRunner,
  requestAt: (now: number) => Omit<RunRequest, "now">,
): Promise<FoundWaiting> {
  let found: FoundWaiting = { pieces: [], next: undefined };
  for (let pages = 0; pages < EMPTY_PAGES && found.pieces.length === 0; pages += 1) {
    if (pages > 0 && found.next === undefined) break;
    const { next } = found;
    found = await readAt("looking for waiting work", (now) => {
      const request = requestAt(now);
      return findWaiting({ ...request, now, from: next ?? request.from, wanted: pace.rows });
    });
  }
  return found;
}
