import type { ChildProcess } from "node:child_process";
import { TestRunner, afterAll, onTestFinished } from "vitest";

const ofHooks: ChildProcess[] = [];

afterAll(() => {
  for (const child of ofHooks) child.kill("SIGKILL");
});

/** Ends the process with the test that started it, also when the test fails; with the file when a hook started it. */
export function endWithTest<Child extends ChildProcess>(child: Child): Child {
  if (TestRunner.getCurrentTest() === undefined) ofHooks.push(child);
  else onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}
