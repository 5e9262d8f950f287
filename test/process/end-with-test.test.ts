import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { asProgram, startProgram } from "../support/start-program.js";

/** It starts a program in a group of its own, as `dev --start` does, prints its id, and stays. */
const PARENT = `
  import { spawn } from "node:child_process";
  console.log(spawn("sleep", ["1000"], { detached: true, stdio: "ignore" }).pid);
  setInterval(() => {}, 1_000);`;

const left: string[] = [];

/** What a process that has ended, but that nobody has asked for, does not have. */
const runs = (pid: string): boolean => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";
  } catch {
    return false;
  }
};

// Only Linux shows what a process has started.
describe.runIf(process.platform === "linux")("processes that a test leaves", () => {
  test("a test may leave processes that started others, as one that fails does", async () => {
    const parent = startProgram(asProgram(PARENT));
    left.push(String(parent.child.pid), await parent.line(/^\d+$/));
    const killed = startProgram(asProgram(PARENT));
    left.push(await killed.line(/^\d+$/));
    killed.signal("SIGKILL");
    await killed.ended;
    expect(left.map(runs)).toEqual([true, true, true]);
  });

  test("the processes that a test has left are ended, with what they started", async () => {
    await expect.poll(() => left.filter(runs)).toEqual([]);
  });
});
