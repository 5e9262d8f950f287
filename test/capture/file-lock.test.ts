import { readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { withFileLock } from "#pigeonhole/capture/folder/file-lock.js";
import { endOfTurn } from "../support/end-of-turn.js";
import { makeFolder } from "../support/folder.js";
import { makeGate } from "../support/gate.js";

describe("the file lock", () => {
  test("a lock is kept while a task holds it, even longer than the age at which a lock counts as abandoned", async () => {
    vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const folder = makeFolder();
    const file = join(folder, "one");
    const [begun, over] = [makeGate(), makeGate()];
    const first = withFileLock(file, async () => {
      begun.open();
      await over.passed;
      return "first";
    });
    await begun.passed;
    const done: string[] = [];
    const second = withFileLock(file, async () => void done.push("second"));
    for (let n = 0; n < 12; n += 1) {
      await vi.advanceTimersByTimeAsync(1_000);
      // The touch of the lock, which the timer began, takes a moment of its own.
      while (Date.now() - statSync(`${file}.lock`).mtimeMs >= 1_000) await endOfTurn();
      expect(done).toEqual([]);
    }
    over.open();
    expect(await first).toBe("first");
    await second;
    expect([done, readdirSync(folder)]).toEqual([["second"], []]);
  });

  test.each([
    ["that a killed process left", -6_000],
    ["that was left before the clock was set back", 3_600_000],
  ])("a lock %s is free", async (_, touchedMs) => {
    const file = join(makeFolder(), "one");
    writeFileSync(`${file}.lock`, "");
    const touchedAt = new Date(Date.now() + touchedMs);
    utimesSync(`${file}.lock`, touchedAt, touchedAt);
    expect(await withFileLock(file, async () => "mine")).toBe("mine");
  });

  test("a lock is free again after its task fails", async () => {
    const file = join(makeFolder(), "one");
    const failing = withFileLock(file, () => Promise.reject(new Error("no")));
    await expect(failing).rejects.toThrow("no");
    expect(await withFileLock(file, async () => "mine")).toBe("mine");
  });
});
