import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sampleEvent } from "pigeonhole/testing";
import { startReceiverApp } from "./app.js";
import { importEvents } from "./import-events.js";
import { makeFixture } from "#pigeonhole/cli/init/make-fixture.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { makeFolder } from "../support/folder.js";

const env = { WEBHOOK_SECRET: SECRET };

describe("captures import", () => {
  test("captures import accepts bare events, names the lines that it cannot read, and then ends with 1", async () => {
    const cwd = makeFolder();
    const input = `${JSON.stringify(sampleEvent("email.sent"))}\nnot JSON\n${JSON.stringify(sampleEvent("email.opened"))}\n`;
    const result = await runCli(["captures", "import", "-", "--json"], { cwd, input });
    expect(result.code).toBe(1);
    const [line] = jsonLines(result);
    expect(line?.["captures"]).toHaveLength(2);
    expect(line?.["problems"]).toEqual([expect.stringContaining("Line 2")]);
    expect(jsonLines(await runCli(["captures", "list", "--json"], { cwd }))).toHaveLength(2);
  });

  test("captures import refuses more than 100 MiB from a file and from a pipe, and says what to do", async () => {
    const cwd = makeFolder();
    // Holes: it takes no room.
    writeFileSync(join(cwd, "large.ndjson"), "");
    truncateSync(join(cwd, "large.ndjson"), 100 * 1024 * 1024 + 1);
    const words = "holds more than 100 MiB. Split it, and give each part by itself.";
    const large = await runCli(["captures", "import", "large.ndjson"], { cwd });
    expect([large.code, large.stderr]).toEqual([2, `error: <files>: the file large.ndjson ${words}\n`]);
    const piped = await runCli(["captures", "import", "-"], { cwd, input: "x".repeat(100 * 1024 * 1024 + 1) });
    expect([piped.code, piped.stderr]).toEqual([2, `error: <files>: standard input ${words}\n`]);
    expect(existsSync(join(cwd, ".pigeonhole"))).toBe(false);
  });
});

test("captures types writes a module", async () => {
  const cwd = await importEvents(sampleEvent("email.sent"), sampleEvent("email.sent"));
  expect(await runCli(["captures", "types", "--out", "schemas.ts"], { cwd })).toMatchObject({ code: 0 });
  expect(readFileSync(join(cwd, "schemas.ts"), "utf8")).toContain('"email.sent": emailSent');
});

test("captures types leaves out samples of this package unless told, and says so", async () => {
  const cwd = makeFolder();
  mkdirSync(join(cwd, "fixtures"));
  writeFileSync(join(cwd, "fixtures/sample.json"), makeFixture("email.sent"));
  const types = (...args: string[]) =>
    runCli(["captures", "types", "./fixtures", "--out", "schemas.ts", ...args], { cwd });
  const none = await types();
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("--samples includes them")]);
  const { code, stdout } = await types("--samples");
  expect([code, stdout]).toEqual([0, "schemas.ts has schemas from 1 capture (1 trigger).\n"]);
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
  expect((await runCli(["replay", name, "--to", app.url, "--dry-run"], { cwd, env })).stdout).toMatch(
    new RegExp(`^${name}  email\\.sent`),
  );
  expect(await runCli(["replay", name, "--to", app.url, "--expect", "200"], { cwd, env })).toMatchObject({ code: 0 });
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
