import { FailureLog } from "#pigeonhole/dashboard/failure-log.js";
import { JobRunner } from "#pigeonhole/dashboard/job-runner.js";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import { type FakeClock, fakeClock } from "pigeonhole/testing";
import { expect, test } from "vitest";
import { HOUR } from "#pigeonhole/base/duration.js";
import { PigeonholeError } from "#pigeonhole/base/error.js";
import { silentLogger } from "#pigeonhole/base/logger.js";

/** Of a receiver that runs, on a store that has these pages of jobs. */
function runnerOf(runJobPage: () => Promise<undefined>, clock: FakeClock): JobRunner {
  return new JobRunner({
    operator: () => ({ runJobPage }) as unknown as InboxOperator,
    receiver: { state: "running" },
    clock,
    failures: new FailureLog(silentLogger, clock),
  });
}

test("a job that is created while the runner finds none is begun at once", async () => {
  const clock = fakeClock();
  const looks: ((job: undefined) => void)[] = [];
  const runJobPage = () => new Promise<undefined>((resolve) => looks.push(resolve));
  const runner = runnerOf(runJobPage, clock);
  runner.kick();
  runner.kick();
  expect(looks).toHaveLength(1);
  looks[0]?.(undefined);
  await expect.poll(() => looks.length).toBe(2);
});

test("jobs that another process has left are looked for every half a minute although the wall clock is set back", async () => {
  const clock = fakeClock();
  let looks = 0;
  const runJobPage = () => Promise.resolve(void (looks += 1));
  const runner = runnerOf(runJobPage, clock);
  runner.kick();
  clock.set(clock.now() - HOUR);
  await clock.advance(31_000);
  expect(looks).toBe(2);
});

test("jobs that a lost store has stopped go on within a second of its return, and say meanwhile why they wait", async () => {
  const clock = fakeClock();
  const lost = new PigeonholeError("store_unreachable", "PostgreSQL does not answer.");
  const pages = [() => Promise.resolve({}), ...Array.from({ length: 5 }, () => () => Promise.reject(lost))];
  const runner = runnerOf(() => (pages.shift()?.() ?? Promise.resolve(undefined)) as Promise<undefined>, clock);
  runner.kick();
  await clock.advance(3_500);
  expect(runner.trouble).toMatchObject({ code: "store_unreachable", message: "PostgreSQL does not answer." });
  await clock.advance(2_000);
  expect([pages, runner.trouble]).toEqual([[], null]);
});

test.each<[string, (page: string) => Error]>([
  ["internal_error", (page) => new TypeError(page)],
  // After some of them in a row, the store gives the job up.
  ["store_busy", (page) => new PigeonholeError("store_busy", page)],
  ["store_full", (page) => new PigeonholeError("store_full", page)],
  ["store_failed", (page) => new PigeonholeError("store_failed", page)],
])("a failure of a page by itself, %s, is met twice a minute", async (code, make) => {
  const clock = fakeClock();
  let looks = 0;
  const fail = () => Promise.reject(make(`page ${(looks += 1)}`));
  const runner = runnerOf(fail, clock);
  await clock.advance(59_000);
  expect([looks, runner.trouble]).toMatchObject([2, { code }]);
});
