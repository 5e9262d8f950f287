import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sampleEvent } from "pigeonhole/testing";
import { startReceiverApp } from "./app.js";
import { importEvents } from "./import-events.js";
import { makeFixture } from "#pigeonhole/cli/init/run.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { makeFolder } from "../support/folder.js";

const env = { WEBHOOK_SECRET: SECRET };

test("a file of bare events is read by its path, and one with a line that cannot be read is refused", async () => {
  const cwd = makeFolder();
  const lines = [sampleEvent("email.sent"), sampleEvent("email.opened")].map((event) => JSON.stringify(event));
  writeFileSync(join(cwd, "events.ndjson"), lines.join("\n"));
  const exported = await runCli(["captures", "export", "events.ndjson"], { cwd });
  expect(exported.stdout.trim().split("\n")).toHaveLength(2);
  writeFileSync(join(cwd, "events.ndjson"), lines.join("\nnot JSON\n"));
  const refused = await runCli(["captures", "export", "events.ndjson"], { cwd });
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining("events.ndjson: Line 2 is not valid JSON."),
  ]);
});

test("captures types writes a module, and leaves out samples of this package unless told", async () => {
  const cwd = makeFolder();
  mkdirSync(join(cwd, "fixtures"));
  writeFileSync(join(cwd, "fixtures/sample.json"), makeFixture("email.sent"));
  const types = (...args: string[]) =>
    runCli(["captures", "types", "./fixtures", "--out", "schemas.ts", ...args], { cwd });
  const none = await types();
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("--samples includes them")]);
  const { code, stdout } = await types("--samples");
  expect([code, stdout]).toEqual([0, "schemas.ts has schemas from 1 capture (1 trigger).\n"]);
  expect(readFileSync(join(cwd, "schemas.ts"), "utf8")).toContain('"email.sent": emailSent');
});

test("captures list shows short names, which show, export and replay accept", async () => {
  const app = await startReceiverApp();
  const cwd = await importEvents(sampleEvent("email.sent"), sampleEvent("email.opened"));
  const { stdout } = await runCli(["captures", "list"], { cwd });
  const [, name = ""] = /email\.sent .* ([0-9a-z]{6}) /.exec(stdout) ?? [];
  const shown = await runCli(["captures", "show", name, "--json"], { cwd });
  expect(jsonLines(shown)).toMatchObject([{ capture: { event: { type: "email.sent" } } }]);
  expect(jsonLines(await runCli(["captures", "show", `#${name}`, "--json"], { cwd }))).toEqual(jsonLines(shown));
  expect((await runCli(["captures", "export", name], { cwd })).stdout).toContain('"email.sent"');
  expect(await runCli(["replay", name, "--to", app.url], { cwd, env })).toMatchObject({ code: 0 });
});

describe("replay without --to", () => {
  test("replay without --to goes to the target that answered the capture last, not to one that did not answer", async () => {
    const app = await startReceiverApp();
    const cwd = await importEvents(sampleEvent("email.received"));
    const replay = (...args: string[]) => runCli(["replay", "last", ...args], { cwd, env });
    expect(await replay("--to", app.url)).toMatchObject({ code: 0 });
    expect(await replay("--to", "http://127.0.0.1:9/elsewhere")).toMatchObject({ code: 3 });
    expect(await replay("--to", "http://no-such-host.invalid/")).toMatchObject({ code: 3 });
    const again = await replay("--json");
    expect([again.code, jsonLines(again)[0]]).toMatchObject([0, { attempt: { target: app.url, status: 200 } }]);
  });

  test("replay without --to asks for --to if the capture was never answered, and names where it was sent", async () => {
    const cwd = await importEvents(sampleEvent("email.received"));
    const replay = (...args: string[]) => runCli(["replay", "last", ...args], { cwd, env });
    expect((await replay()).stderr).toContain("was never sent anywhere; give --to");
    expect(await replay("--to", "http://127.0.0.1:9/x")).toMatchObject({ code: 3 });
    const { code, stderr } = await replay();
    expect([code, stderr]).toEqual([2, expect.stringContaining("only to http://127.0.0.1:9/x, which did not answer")]);
  });
});
