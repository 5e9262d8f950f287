import { afterAll, beforeAll, expect, test } from "vitest";
import { DAY, MINUTE } from "#pigeonhole/base/duration.js";
import { HANDLERS } from "./example-events.js";
import { type ManyBench, deliverAllTheTime, startManyBench } from "./many-bench.js";
import type { FullStore } from "./stores.js";
import { measureSlowness } from "../../support/slowness.js";
import { type View, viewsOf } from "./views.js";

/** What a person waits for. */
const VIEW_MS = 500;
/** Tries of a view, of which the fastest counts: other programs on the machine make some slow. */
const TRIES = 5;
/** What a delivery waits for the dashboard, on a machine that does nothing else. */
const HELD_MS = 20;
/** Rounds of jobs, of which the best one counts, for the same reason. */
const ROUNDS = 3;
/** Share of the holds of a round that must be short: a thread that others keep from the processor holds what it has. */
const SHORT_SHARE = 0.95;
/** A checkpoint begins at 4 MB, and is complete once no reader needs what is older. */
const WAL_BYTES = 64 * 1024 * 1024;

interface ManyOptions {
  open: (total: number, now: number) => Promise<FullStore>;
  total: number;
  /** One view out of so many. @default 1 */
  each?: number;
}

/** Tests of a dashboard on a store with many events. */
export function describeManyEvents({ open, total, each = 1 }: ManyOptions): void {
  const now = Date.now();
  let store: FullStore;
  let bench: ManyBench;
  let views: View[];
  beforeAll(async () => {
    store = await open(total, now);
    bench = await startManyBench(store);
    views = viewsOf({ total, now, group: await bench.largestGroup() }).filter((_, place) => place % each === 0);
  }, 5 * MINUTE);
  afterAll(async () => {
    await bench.close();
    await store.close();
  }, MINUTE);

  test(
    `every view is answered within ${VIEW_MS} ms while deliveries are accepted`,
    { timeout: 10 * MINUTE },
    async () => {
      const load = deliverAllTheTime(bench);
      const times: { path: string; ms: number }[] = [];
      for (const view of views) times.push({ path: nameOf(view), ms: await fastest(bench, view) });
      const accepted = await load.end();
      report(
        `${views.length} views`,
        times.map(({ ms }) => ms),
      );
      report(`${accepted.length} deliveries meanwhile`, accepted);
      expect(times.filter(({ ms }) => ms > VIEW_MS)).toEqual([]);
      expect(await store.walBytes()).toBeLessThan(WAL_BYTES);
    },
  );

  test(
    `nothing of the dashboard keeps a delivery waiting for a lock for more than ${HELD_MS} ms`,
    { timeout: 10 * MINUTE },
    async () => {
      const quick = views.filter((_, place) => place % 10 === 0);
      const long: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const slowness = measureSlowness();
        const holds = await holdsOfRound({ store, bench, views: quick }, HANDLERS[round] ?? "crm");
        report(`round ${round + 1}, ${holds.length} holds of a lock`, holds);
        long.push(percentile(holds, SHORT_SHARE) / slowness);
      }
      expect(Math.min(...long)).toBeLessThanOrEqual(HELD_MS);
    },
  );
}

/** Views, a pause, and jobs of all three actions over the work of one handler of the last day. */
async function holdsOfRound(
  { store, bench, views }: { store: FullStore; bench: ManyBench; views: View[] },
  handler: string,
): Promise<number[]> {
  const probe = await store.probe();
  for (const view of views) await bench.time(view);
  const since = new Date(Date.now() - DAY).toISOString();
  let changed = 0;
  for (const action of ["run", "retry", "discard"] as const) {
    const state = action === "discard" ? ({ state: "dead" } as const) : {};
    changed += await bench.runJob({ action, filter: { handler, since, ...state } });
  }
  expect(changed).toBeGreaterThan(0);
  return probe.end();
}

async function fastest(bench: ManyBench, view: View): Promise<number> {
  let best = Infinity;
  for (let tried = 0; tried < TRIES && best > VIEW_MS; tried += 1) {
    const slowness = measureSlowness();
    best = Math.min(best, (await bench.time(view)) / slowness);
  }
  return best;
}

const nameOf = ({ path, body }: View): string =>
  body === undefined ? path : `${path} ${JSON.stringify(body).slice(0, 200)}`;

function report(what: string, times: readonly number[]): void {
  const at = (share: number): string => percentile(times, share).toFixed(0);
  console.log(`${what}: median ${at(0.5)} ms, 95 % ${at(0.95)} ms, longest ${at(1)} ms`);
}

function percentile(times: readonly number[], share: number): number {
  return times.toSorted((one, other) => one - other)[Math.ceil(share * times.length) - 1] ?? 0;
}
