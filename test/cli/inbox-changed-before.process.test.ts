import { deliver, sampleEvent } from "pigeonhole/testing";
import { describe, expect, test } from "vitest";
import { compareWithCount } from "#pigeonhole/cli/inbox/choose-work.js";
import { makeFolder } from "../support/folder.js";
import { untilWork } from "../support/receiver.js";
import { SECRET, jsonLines, runCli } from "../support/run-cli.js";
import { BIN } from "../support/start-cli.js";
import { type App, startReceiverApp } from "./app.js";
import { HAS_TERMINAL, type Terminal, startInTerminal } from "./terminal.js";

async function receiveDead(app: App, count: number): Promise<string[]> {
  const events = Array.from({ length: count }, () => sampleEvent("email.bounced"));
  for (const event of events) await deliver(app.receiver, event, { secret: SECRET });
  for (const { id } of events) await untilWork(app.receiver, id, { state: "dead" }, "bounces");
  return events.map(({ id }) => id);
}

describe.skipIf(!HAS_TERMINAL)("inbox discard, while a person thinks about its question", () => {
  async function ask(app: App, ...options: string[]): Promise<Terminal> {
    const line = `${process.execPath} ${BIN} inbox discard --dead --db ${app.file} ${options.join(" ")}`;
    const terminal = startInTerminal(line, { cwd: makeFolder() });
    await terminal.shows("End 3 pieces of work of 3 events without running it?");
    return terminal;
  }

  test("says that all it had counted had been changed before", async () => {
    const app = await startReceiverApp();
    await receiveDead(app, 3);
    const terminal = await ask(app);
    app.fix();
    expect((await runCli(["inbox", "retry", "--dead", "--db", app.file])).stdout).toBe("3 handlers will run again\n");
    terminal.press("y");
    await terminal.shows("0 of 3 pieces of work: 3 had been changed before this command came to them");
    expect(await terminal.ended).toBe(0);
  });

  test("says how much of it had been changed before", async () => {
    const app = await startReceiverApp();
    const [first = ""] = await receiveDead(app, 3);
    const terminal = await ask(app);
    await runCli(["inbox", "discard", first, "--yes", "--db", app.file]);
    terminal.press("y");
    await terminal.shows("2 pieces of work of 2 events ended");
    await terminal.shows("2 of 3 pieces of work: 1 had been changed before this command came to it");
    expect(await terminal.ended).toBe(0);
  });
});

test("the commands that change chosen work say with --json how much they had counted", async () => {
  const app = await startReceiverApp();
  const ids = await receiveDead(app, 2);
  const inbox = async (...args: string[]) => jsonLines(await runCli(["inbox", ...args, "--json", "--db", app.file]));
  const all = { chosen: 2, changedBefore: 0 };
  expect(await inbox("retry", "--dead")).toMatchObject([{ ...all, handlers: 2, skipped: 0 }]);
  for (const id of ids) await untilWork(app.receiver, id, { state: "dead" }, "bounces");
  expect(await inbox("discard", "--dead", "--yes")).toMatchObject([{ ...all, work: 2 }]);
  expect(await inbox("run", "--all")).toMatchObject([{ chosen: 0, changedBefore: 0, work: 0 }]);
});

test.each([
  [{ total: 3, done: 3 }, 0, undefined],
  // What was new after the count.
  [{ total: 3, done: 4 }, 0, undefined],
  [{ total: 1, done: 0 }, 1, "0 of 1 piece of work: 1 had been changed before this command came to it"],
  [
    { total: 2, done: 0, skipped: 2 },
    0,
    "0 of 2 pieces of work: 2 cannot be changed, as the body is gone or the handler has another body of the event",
  ],
])("of %j, %d had been changed before", (counts, changedBefore, why) => {
  expect(compareWithCount(counts)).toEqual({ fields: { chosen: counts.total, changedBefore }, why });
});
