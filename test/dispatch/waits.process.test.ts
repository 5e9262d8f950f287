import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { openInbox } from "#pigeonhole/store/open-inbox.js";
import { makeEvent, tempFile } from "../support/receiver.js";

const script = fileURLToPath(new URL("wait-receiver.mjs", import.meta.url));

test("a handler that is held by RetryAfter is held after SIGKILL, until a person runs its event", async () => {
  const store = tempFile();
  const [first, second] = [makeEvent(), makeEvent()];
  const start = (config: { event: object; isBusy: boolean }): { child: ChildProcess; lines: AsyncIterator<string> } => {
    const args = JSON.stringify({ ...config, store, event: JSON.stringify(config.event) });
    const child = spawn(process.execPath, [script, args], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    return { child, lines: createInterface(child.stdout)[Symbol.asyncIterator]() };
  };
  const take = async (lines: AsyncIterator<string>, count: number): Promise<string[]> => {
    const taken: string[] = [];
    while (taken.length < count) taken.push(String((await lines.next()).value));
    return taken;
  };
  const inbox = async () => {
    const opened = await openInbox(store);
    onTestFinished(() => opened.close());
    return opened;
  };

  const before = start({ event: first, isBusy: true });
  expect(await take(before.lines, 2)).toEqual([first.id, "held"]);
  const work = async () => (await (await inbox()).getEvent(first.id))?.handlers;
  await expect.poll(work).toMatchObject([{ state: "pending", waitsFor: "retry_after" }]);
  before.child.kill("SIGKILL");
  await once(before.child, "exit");

  const after = start({ event: second, isBusy: false });
  expect(await take(after.lines, 1)).toEqual(["held"]);
  await (await inbox()).changeEvent("run", first.id);
  expect((await take(after.lines, 2)).toSorted()).toEqual([first.id, second.id].toSorted());
});
