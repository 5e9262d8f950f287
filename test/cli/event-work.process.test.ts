import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { deliver, sampleEvent } from "pigeonhole/testing";
import { expect, test } from "vitest";
import { makeCapture } from "../support/captures.js";
import { makeFolder } from "../support/folder.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { startReceiverApp } from "./app.js";
import { importEvents } from "./import-events.js";

const env = { WEBHOOK_SECRET: SECRET };

test.each([
  ["email.sent", "✓", ["Done: all."]],
  [
    "email.bounced",
    "✗",
    [
      "Handler bounces is dead: attempts_spent: Error: the mail server is away",
      "To retry it: npx pigeonhole inbox retry evt_1",
    ],
  ],
  [
    "email.complained",
    "!",
    [
      "Handler complaints is retrying, 1 of 5 attempts: Error: try again later",
      "To run it now: npx pigeonhole inbox retry evt_1 --db /",
    ],
  ],
])("trigger %s waits for the handlers and prints what they made of it: %s", async (type, sign, words) => {
  const app = await startReceiverApp();
  const args = ["trigger", type, "--id", "evt_1", "--to", app.url, "--inbox", app.file];
  const { code, stdout, stderr } = await runCli(args, { env });
  expect([code, stdout, stderr]).toEqual([
    sign === "✗" ? 1 : 0,
    expect.stringMatching(`^${sign} ${type} .* 200 accepted `),
    "",
  ]);
  for (const text of words) expect(stdout).toContain(`\n  ${text}`);
});

test("trigger finds the inbox by DATABASE_FILE, and without one says that the work is not known", async () => {
  const app = await startReceiverApp();
  const args = ["trigger", "email.bounced", "--to", app.url, "--json"];
  const known = await runCli(args, { env: { ...env, DATABASE_FILE: app.file } });
  expect(jsonLines(known)).toMatchObject([
    { outcome: "accepted", notRun: null, work: { state: "dead", handlers: [{ handler: "all" }, { state: "dead" }] } },
  ]);
  expect(jsonLines(await runCli(args, { cwd: makeFolder(), env }))).toMatchObject([{ work: null }]);
  const unknown = await runCli(["trigger", "email.bounced", "--to", app.url], { cwd: makeFolder(), env });
  expect(unknown.stderr).toMatch(
    /^How the app's handlers ended is not known\. No database of the app was found\. Name .* --inbox/,
  );
  expect(unknown.stderr.match(/--inbox/g)).toHaveLength(1);
});

test("trigger waits no longer than about 2 s for a handler that is not ready, and says how to see its end", async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const app = await startReceiverApp(() => held);
  const args = ["trigger", "email.sent", "--id", "evt_1", "--to", app.url, "--inbox", app.file];
  const { stdout } = await runCli(args, { env });
  release();
  expect(stdout).toMatch(/^✓ .* 200 accepted /);
  expect(stdout).toContain(`\n  To see how it ends: npx pigeonhole inbox show evt_1 --db ${app.file}`);
});

test("a database that is named and cannot be read is not called unnamed", async () => {
  const app = await startReceiverApp();
  const cwd = await importEvents(sampleEvent("email.bounced"));
  await runCli(["replay", "last", "--to", app.url], { cwd, env });
  writeFileSync(join(cwd, "notes.db"), "hello");
  const damaged = {
    code: 0,
    stderr: expect.stringMatching(/is not known\. \S*notes\.db .* Name the app's database with --inbox/),
  };
  for (const args of [
    ["captures", "list"],
    ["captures", "show", "last"],
    ["trigger", "email.sent", "--to", app.url],
    ["replay", "last", "--to", app.url],
  ]) {
    expect(await runCli([...args, "--inbox", "notes.db"], { cwd, env })).toMatchObject(damaged);
  }
  const { stderr } = await runCli(["captures", "list"], { cwd, env: { ...env, DATABASE_FILE: "/none.db" } });
  expect(stderr).toMatch(/is not known\. DATABASE_FILE names .*none\.db, and there is no such file\. Name .*\n$/);
});

test("a replay of a body without an id does not advise a new id", async () => {
  const app = await startReceiverApp();
  const cwd = makeFolder();
  writeFileSync(join(cwd, "capture.json"), JSON.stringify(makeCapture({ body: '{"type":"email.sent"}' })));
  const send = () => runCli(["replay", "capture.json", "--new-id", "--to", app.url], { cwd, env });
  await send();
  const { stdout } = await send();
  expect(stdout).toMatch(/ {2}200 duplicate {2}/);
  expect(stdout).toContain("The body has no id that could be replaced by a new one. The captured bytes were sent");
  expect(stdout).toContain("Not run: the receiver has this body, which has no id. --set id=<id> gives it one");
  expect(stdout).not.toContain("--new-id");
});

test("discarded work is called discarded everywhere, and has no mark of success", async () => {
  const app = await startReceiverApp();
  const at = { cwd: await importEvents(sampleEvent("email.bounced", {}, { id: "evt_1" })), env };
  const run = async (...args: string[]) => (await runCli(args, at)).stdout;
  await run("replay", "last", "--to", app.url, "--inbox", app.file);
  await run("inbox", "discard", "evt_1", "--yes", "--db", app.file);
  expect(await run("inbox", "list", "--db", app.file)).toContain("bounces:discarded");
  expect(await run("inbox", "show", "evt_1", "--db", app.file)).toContain("bounces: – discarded");
  const told = { event: { id: "evt_1", state: "done", handlers: [{ state: "done" }, { state: "discarded" }] } };
  expect(jsonLines(await app.run("inbox", "list", "--json"))).toMatchObject([told]);
  expect(jsonLines(await app.run("inbox", "show", "evt_1", "--json"))).toMatchObject([told]);
  expect(await run("captures", "show", "last", "--inbox", app.file)).toContain("Discarded: bounces.");
});

test("superseded work is shown with the newer event, and is not called done", async () => {
  const app = await startReceiverApp();
  const at = { cwd: await importEvents(sampleEvent("suppression.added", {}, { id: "evt_1" })), env };
  const run = async (...args: string[]) => (await runCli(args, at)).stdout;
  await deliver(app.receiver, sampleEvent("suppression.added", {}, { id: "evt_2" }), { secret: SECRET });
  const replayed = await run("replay", "last", "--to", app.url, "--inbox", app.file);
  expect(replayed).toMatch(/ Done: all\.\n +Handler blocklist is discarded: superseded: evt_2 is newer\n/);
  const shown = "blocklist: – discarded (superseded), 0 of 14 attempts\n          evt_2 is newer\n";
  expect(await run("inbox", "show", "evt_1", "--db", app.file)).toContain(shown);
});
