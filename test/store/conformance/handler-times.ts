import type { HandlerTimes, HandlerTimesQuery } from "#pigeonhole/store/handler-times.js";
import { expect, test } from "vitest";
import { MINUTE } from "./new-event.js";
import { type Fixture } from "./fixture.js";
import { type EndedRuns, writeRuns } from "../../support/ended-runs.js";
import { operate } from "../../support/operate.js";

/** Begin of one of the steps of ten minutes. */
const STEP = 1_800_000_000_000;

const ended = (changes: Partial<EndedRuns> = {}): EndedRuns => ({
  handler: "h",
  outcome: "done",
  fromMs: 20,
  runs: 1,
  ...changes,
});

export function describeHandlerTimes(fixture: Fixture): void {
  const runsIn = async (query: HandlerTimesQuery = {}): Promise<Record<string, number>> =>
    Object.fromEntries((await operate(fixture.store).handlerTimes(query)).map(({ handler, runs }) => [handler, runs]));

  test("runs are added up by handler, by how they ended, and by how long they took", async () => {
    const { store } = fixture;
    await writeRuns(store, [ended({ runs: 3 }), ended({ handler: "b", fromMs: 300_000 })], STEP);
    await writeRuns(
      store,
      [ended({ runs: 4 }), ended({ outcome: "failed", runs: 2 }), ended({ fromMs: 100, outcome: "failed" })],
      STEP + 1,
    );
    expect(await operate(store).handlerTimes({})).toEqual<HandlerTimes[]>([
      {
        handler: "b",
        runs: 1,
        failed: 0,
        medianMs: null,
        p95Ms: null,
        buckets: [{ fromMs: 300_000, toMs: null, done: 1, failed: 0 }],
      },
      {
        handler: "h",
        runs: 10,
        failed: 3,
        medianMs: 22,
        p95Ms: 110,
        buckets: [
          { fromMs: 20, toMs: 50, done: 7, failed: 2 },
          { fromMs: 50, toMs: 100, done: 0, failed: 0 },
          { fromMs: 100, toMs: 200, done: 0, failed: 1 },
        ],
      },
    ]);
  });

  test.each<[HandlerTimesQuery, number]>([
    [{}, 111],
    [{ since: STEP + 10 * MINUTE }, 110],
    [{ since: STEP + 10 * MINUTE - 1 }, 111],
    [{ since: STEP + 20 * MINUTE - 1 }, 110],
    [{ since: STEP + 20 * MINUTE }, 100],
    [{ since: STEP + 30 * MINUTE }, 0],
    [{ until: STEP }, 0],
    [{ until: STEP + 1 }, 1],
    [{ until: STEP + 10 * MINUTE }, 1],
    [{ until: STEP + 10 * MINUTE + 1 }, 11],
    [{ since: STEP + 10 * MINUTE, until: STEP + 20 * MINUTE }, 10],
  ])("whole steps of ten minutes are chosen: %o", async (query, runs) => {
    await writeRuns(fixture.store, [ended({ runs: 1 })], STEP + 10 * MINUTE - 1);
    await writeRuns(fixture.store, [ended({ runs: 10 })], STEP + 10 * MINUTE);
    await writeRuns(fixture.store, [ended({ runs: 100 })], STEP + 20 * MINUTE);
    expect(await runsIn(query)).toEqual(runs === 0 ? {} : { h: runs });
  });
}
