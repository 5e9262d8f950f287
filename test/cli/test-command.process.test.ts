import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { sampleEvent } from "pigeonhole/testing";
import { findFreePort } from "../support/free-port.js";
import { serve } from "../support/mounts.js";
import { closeAfterTest, startApp } from "./app.js";
import { jsonLines, runCli, SECRET, startCli } from "../support/run-cli.js";
import { makeFolder } from "../support/folder.js";

const APP = fileURLToPath(new URL("receiver-app.mjs", import.meta.url));
const env = { WEBHOOK_SECRET: SECRET };

/** A project with one fixture for each of these events. */
async function makeFixtures(events: object[]): Promise<string> {
  const cwd = makeFolder();
  writeFileSync(join(cwd, "events.json"), JSON.stringify(events));
  await runCli(["captures", "import", "events.json"], { cwd });
  mkdirSync(join(cwd, "fixtures"));
  cpSync(join(cwd, ".pigeonhole", "captures"), join(cwd, "fixtures", "webhooks"), { recursive: true });
  return cwd;
}

/** Whether something still answers there. */
function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    () => false,
  );
}

describe("test", () => {
  test("test starts the app under a secret of its own, waits, checks handlers and duplicates, reports, and ends it", async () => {
    const cwd = await makeFixtures([sampleEvent("email.sent"), sampleEvent("email.bounced")]);
    const port = await findFreePort();
    const flags = ["--to", `${port}/webhooks`, "--wait-for", `http://127.0.0.1:${port}/health`, "--inbox", "inbox.db"];
    const result = await runCli(
      ["test", "--start", `node "${APP}"`, ...flags, "--twice", "--reporter", "junit=report.xml", "--json"],
      { cwd, env: { APP_PORT: String(port), APP_FILE: join(cwd, "inbox.db") } },
    );
    expect(result.stderr).toBe("");
    const lines = jsonLines(result);
    expect(lines).toMatchObject([
      { case: { status: 200, outcome: "accepted" } },
      { case: { status: 200, outcome: "accepted" } },
      { schemaVersion: 1, summary: { passed: 1, failed: 1 } },
    ]);
    const failed = lines
      .map((line) => line["case"] as { passed: boolean; failures: string[] })
      .find((one) => !one.passed);
    expect(failed?.failures).toEqual([expect.stringContaining("Handler bounces is dead, expected done")]);
    expect(result.code).toBe(1);
    const report = readFileSync(join(cwd, "report.xml"), "utf8");
    expect(report).toContain('<testsuites tests="2" failures="1"');
    expect(await answers(port)).toBe(false);
  });

  test("test against a running app passes once --update has taken the answers as expected, and notices another", async () => {
    const app = await startApp();
    const cwd = await makeFixtures([sampleEvent("email.sent"), sampleEvent("email.bounced")]);
    const flags = ["--to", app.url, "--inbox", app.file];
    const run = (...args: string[]) => runCli(["test", "fixtures/webhooks", ...args], { cwd, env });
    expect((await run(...flags)).code).toBe(1);
    expect((await run(...flags, "--update")).code).toBe(0);
    expect(await run(...flags, "--twice")).toMatchObject({ code: 0, stderr: "2 passed, 0 failed.\n" });
    // Under another secret the app answers 503.
    const other = await runCli(["test", "--to", app.url, "--secret", `${SECRET}x`], { cwd });
    expect([other.code, other.stdout]).toEqual([1, expect.stringContaining("Answered 503, expected 200.")]);
  });

  test("test ends with 3 and the app's last words when it does not start", async () => {
    const cwd = await makeFixtures([sampleEvent("email.sent")]);
    const args = ["test", "--start", "echo no database; exit 7", "--to", "9/webhooks"];
    const { code, stderr } = await runCli(args, { cwd });
    expect(code).toBe(3);
    expect(stderr).toContain("ended before it answered (exit code 7)");
    expect(stderr).toContain("no database");
  });

  test.each(["127.0.0.1", "localhost"])(
    "test with --start does not test another program that is at %s already, and does not start the app",
    async (host) => {
      const stranger = await serve((_, response) => response.end("hello"));
      closeAfterTest(() => stranger.close());
      const cwd = await makeFixtures([sampleEvent("email.sent")]);
      const { port } = new URL(stranger.url);
      const args = ["test", "--start", "touch started", "--to", `${host}:${port}/webhooks`];
      const { code, stdout, stderr } = await runCli(args, { cwd });
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toContain(`Port ${port} (--to) is in use by another program`);
      expect(stderr).toContain("leave out --start");
      expect(existsSync(join(cwd, "started"))).toBe(false);
    },
  );

  test("test ends with 3 when nobody answers, with 2 for a folder that is not there", async () => {
    const cwd = await makeFixtures([sampleEvent("email.sent")]);
    expect((await runCli(["test", "--to", "9/webhooks"], { cwd, env })).code).toBe(3);
    expect(await runCli(["test", "nowhere"], { cwd, env })).toMatchObject({ code: 2 });
    expect(await runCli(["test", "--reporter", "tap=x"], { cwd, env })).toMatchObject({ code: 2 });
  });

  test("test ends the app and itself on Ctrl-C while it waits", async () => {
    const cwd = await makeFixtures([sampleEvent("email.sent")]);
    const port = await findFreePort();
    const command = `node "${APP}" & wait`;
    const flags = ["--to", `${port}/webhooks`, "--wait-for", "http://127.0.0.1:9/"];
    const cli = startCli(["test", "--start", command, ...flags], { cwd, env: { APP_PORT: String(port) } });
    await expect.poll(() => answers(port)).toBe(true);
    cli.signal("SIGINT");
    expect(await cli.ended).toMatchObject({ code: 130, stdout: "", stderr: "" });
    await expect.poll(() => answers(port)).toBe(false);
  });
});
