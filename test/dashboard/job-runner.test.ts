import { FailureLog } from "#pigeonhole/dashboard/failure-log.js";
import { JobRunner } from "#pigeonhole/dashboard/job-runner.js";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import { fakeClock } from "pigeonhole/testing";
import { expect, test } from "vitest";
import { silentLogger } from "#pigeonhole/base/logger.js";

test("a job that is created while the runner finds none is begun at once", async () => {
  const clock = fakeClock();
  const looks: ((job: undefined) => void)[] = [];
  const runJobPage = () => new Promise<undefined>((resolve) => looks.push(resolve));
  const runner = new JobRunner({
    operator: () => ({ runJobPage }) as unknown as InboxOperator,
    receiver: { state: "running" },
    clock,
    failures: new FailureLog(silentLogger, clock),
  });
  runner.kick();
  runner.kick();
  expect(looks).toHaveLength(1);
  looks[0]?.(undefined);
  await expect.poll(() => looks.length).toBe(2);
});
