import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { TestRunner, afterAll, onTestFinished } from "vitest";

const ofHooks: (() => void)[] = [];

afterAll(() => ofHooks.forEach((end) => end()));

/** With the test that runs, also when it fails; with the file when a hook runs. */
function atEnd(end: () => void): void {
  if (TestRunner.getCurrentTest() === undefined) ofHooks.push(end);
  else onTestFinished(end);
}

/** In the environment of a process that is to end with the test. All that it starts inherits it. */
export type Mark = Record<"PIGEONHOLE_TEST_MARK", string>;

/**
 * A mark whose processes end with the test that asked for it, or with the file when a hook did: also those that have
 * left their group, or whose parent has ended. Only Linux shows them.
 */
export function markOfTest(): Mark {
  const mark = randomUUID();
  atEnd(() => endMarked(mark));
  return { PIGEONHOLE_TEST_MARK: mark };
}

/** Ends a process, and on Linux all that it has started, with the test; its environment has to have the mark. */
export function endWithTest<Child extends { kill: (signal: "SIGKILL") => unknown }>(
  start: (mark: Mark) => Child,
): Child {
  const child = start(markOfTest());
  atEnd(() => void child.kill("SIGKILL"));
  return child;
}

function endMarked(mark: string): void {
  if (!existsSync("/proc/self/environ")) return;
  for (const pid of readdirSync("/proc").map(Number).filter(Number.isInteger)) {
    try {
      if (readFileSync(`/proc/${pid}/environ`, "latin1").includes(mark)) process.kill(pid, "SIGKILL");
    } catch {
      // It has ended, or is another user's.
    }
  }
}
