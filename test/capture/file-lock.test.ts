import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { tryFileLock } from "#pigeonhole/capture/folder/file-lock.js";
import { makeFolder } from "../support/folder.js";

describe("the file lock", () => {
  test("a lock is busy while a task holds it, even longer than the age at which a lock counts as abandoned", async () => {
    vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const folder = makeFolder();
    const file = join(folder, "one");
    let end = (): void => undefined;
    const first = tryFileLock(file, () => new Promise<string>((resolve) => (end = () => resolve("first"))));
    const answers: string[] = [];
    for (let n = 0; n < 12; n += 1) {
      await vi.advanceTimersByTimeAsync(500);
      // The touch of the lock, which the timer began, takes a moment of its own.
      await wait(5);
      answers.push(await tryFileLock(file, async () => "second"));
    }
    expect(new Set(answers)).toEqual(new Set(["busy"]));
    end();
    expect(await first).toBe("first");
    expect(await tryFileLock(file, async () => "second")).toBe("second");
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each([
    ["a killed process left", -6_000],
    ["was left before the clock was set back", 3_600_000],
  ])("a lock that %s is free for the next try", async (_, fromNowMs) => {
    const file = join(makeFolder(), "one");
    writeFileSync(`${file}.lock`, "");
    const at = new Date(Date.now() + fromNowMs);
    utimesSync(`${file}.lock`, at, at);
    expect(await tryFileLock(file, async () => "mine")).toBe("busy");
    expect(await tryFileLock(file, async () => "mine")).toBe("mine");
  });

  test("a lock is free again after its task fails", async () => {
    const file = join(makeFolder(), "one");
    const failing = tryFileLock(file, () => Promise.reject(new Error("no")));
    await expect(failing).rejects.toThrow("no");
    expect(await tryFileLock(file, async () => "mine")).toBe("mine");
  });
});
