import { expect, test } from "vitest";
import { deliver, sampleEvent } from "pigeonhole/testing";
import { openInbox } from "#pigeonhole/store/open-inbox.js";
import { untilWork } from "../support/receiver.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { BIN, startCli } from "../support/start-cli.js";
import { makeFolder } from "../support/folder.js";
import { type App, startReceiverApp } from "./app.js";
import { HAS_TERMINAL, KEY, startInTerminal } from "./terminal.js";

/** A receiver with an event whose handler has failed once, and a paused handler. */
async function startFailing(): Promise<App> {
  const app = await startReceiverApp();
  const event = sampleEvent("email.complained");
  await deliver(app.receiver, event, { secret: SECRET });
  await untilWork(app.receiver, event.id, { state: "pending", attempts: 1 }, "complaints");
  const inbox = await openInbox(app.file);
  await inbox.pauseHandler("bounces", "cli");
  await inbox.close();
  return app;
}

test("inbox watch --once shows the state of the inbox once, for people and for programs", async () => {
  const { file } = await startFailing();
  const watch = (...args: string[]) => runCli(["inbox", "watch", "--once", "--db", file, ...args]);
  const [shown, json] = await Promise.all([watch(), watch("--json")]);
  expect([shown.code, shown.stderr]).toEqual([0, ""]);
  expect(shown.stdout).toContain("work      pending 1  leased 0, oldest ");
  expect(shown.stdout).toMatch(/paused {4}bounces {2}by cli since 20\S+, 0 pending/);
  expect(shown.stdout).toMatch(/ago +1 +complaints +email\.complained +Error: try again later/);
  expect(jsonLines(json)).toHaveLength(1);
  expect(jsonLines(json)[0]).toMatchObject({
    schemaVersion: 1,
    events: { pending: 1, done: 1, dead: 0, pendingByHandler: { complaints: 1 }, oldestAgeMs: expect.any(Number) },
    contactEvents: { pending: 0, oldestAgeMs: null },
    rates: null,
    paused: [{ handler: "bounces", by: "cli" }],
    errors: [{ handler: "complaints", events: 1 }],
  });
});

test("without a terminal inbox watch prints a line for each look, and Ctrl-C ends it with 0", async () => {
  const { file } = await startFailing();
  const people = startCli(["inbox", "watch", "--db", file]);
  const programs = startCli(["inbox", "watch", "--every", "1000ms", "--json", "--db", file]);
  await expect.poll(() => Math.min(people.lines.length, programs.lines.length), { timeout: 10_000 }).toBeGreaterThan(1);
  people.signal("SIGINT");
  programs.signal("SIGTERM");
  const [plain, json] = [await people.ended, await programs.ended];
  expect([plain.code, json.code]).toEqual([0, 0]);
  for (const line of plain.stdout.trimEnd().split("\n")) {
    expect(line).toMatch(/^20\S+Z {2}.*pending 1, leased 0, dead 0, parked 0, oldest .*paused bounces$/);
  }
  expect(jsonLines(json).map((look) => look["hasMoreErrors"])).toEqual(jsonLines(json).map(() => false));
});

test.skipIf(!HAS_TERMINAL)("on a terminal inbox watch draws in place, and Ctrl-C gives the terminal back", async () => {
  const { file } = await startFailing();
  const terminal = startInTerminal(`"${process.execPath}" "${BIN}" inbox watch --db "${file}"`, { cwd: makeFolder() });
  await terminal.shows("Ctrl-C ends");
  terminal.press(KEY.ctrlC);
  expect(await terminal.ended).toBe(0);
  const { output } = terminal;
  expect(output.startsWith("\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[H")).toBe(true);
  const [, after = ""] = output.split("\u001b[?7h\u001b[?25h\u001b[?1049l");
  expect(after).toContain("pending 1");
  expect(after).not.toContain("\u001b[?");
});
