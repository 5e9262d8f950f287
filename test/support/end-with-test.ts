import type { ChildProcess } from "node:child_process";
import { TestRunner, afterAll, expect, onTestFinished } from "vitest";

const ofHooks: (() => void)[] = [];

afterAll(() => ofHooks.forEach((end) => end()));

/**
 * Ends the process, or its group, with the test that started it, also when the test fails; with the file when a hook
 * started it.
 */
export function endWithTest<Child extends ChildProcess>(child: Child, isGroup = false): Child {
  const end = (): void => {
    if (!isGroup) child.kill("SIGKILL");
    else if (child.exitCode === null && child.signalCode === null)
      process.kill(-(child.pid ?? expect.unreachable()), "SIGKILL");
  };
  if (TestRunner.getCurrentTest() === undefined) ofHooks.push(end);
  else onTestFinished(end);
  return child;
}
