import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { sampleEvent } from "pigeonhole/testing";
import { findFreePort } from "../support/free-port.js";
import { serve } from "../support/serve.js";
import { startReceiverApp } from "./app.js";
import { makeFixtures } from "./import-events.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { startCli } from "../support/start-cli.js";
import { makeFolder } from "../support/folder.js";

const APP = fileURLToPath(new URL("receiver-app.mjs", import.meta.url));
const env = { WEBHOOK_SECRET: SECRET };

/** Whether something still answers there. */
function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    () => false,
  );
}

describe("test", () => {
  test("test starts the app with a new secret, waits, checks handlers and duplicates, reports, and stops the app", async () => {
    const cwd = await makeFixtures(sampleEvent("email.sent"), sampleEvent("email.bounced"));
    const port = await findFreePort();
    const flags = ["--to", `${port}/webhooks`];
    const result = await runCli(["test", "--start", `node "${APP}"`, ...flags, "--twice", "--json"], {
      cwd,
      env: { APP_PORT: String(port) },
    });
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
    expect(await answers(port)).toBe(false);
  });

  test("test against a running app passes after --update stored its answers, and reports other answers", async () => {
    const app = await startReceiverApp();
    const cwd = await makeFixtures(sampleEvent("email.sent"), sampleEvent("email.bounced"));
    const flags = ["--to", app.url, "--inbox", app.file];
    const run = (...args: string[]) => runCli(["test", "fixtures/webhooks", ...args], { cwd, env });
    expect((await run(...flags)).code).toBe(1);
    expect((await run(...flags, "--update")).code).toBe(0);
    expect(await run(...flags, "--twice")).toMatchObject({ code: 0, stderr: "2 passed, 0 failed.\n" });
    // Under another secret the app answers 503.
    const other = await runCli(["test", ...flags, "--secret", `${SECRET}x`], { cwd });
    expect([other.code, other.stdout]).toEqual([1, expect.stringContaining("Answered 503, expected 200.")]);
    expect(other.stdout).toContain("\n    ! The app has another secret than the one that signed this");
  });

  /** Runs the fixtures against the app of receiver-app.mjs, which the command starts. */
  async function testStarted(cwd: string, args: string[] = [], env: Record<string, string> = {}) {
    const port = String(await findFreePort());
    const flags = ["--start", `node "${APP}"`, "--to", `${port}/webhooks`, ...args];
    const at = { cwd, env: { APP_PORT: port, ...env } };
    // The folder for temporary files is the process's own.
    return "TMPDIR" in env ? startCli(["test", ...flags], at).ended : runCli(["test", ...flags], at);
  }

  test("test with --start gives the app the port of .env, and a temporary database that it leaves nowhere", async () => {
    const cwd = await makeFixtures(sampleEvent("email.sent"));
    const port = await findFreePort();
    writeFileSync(join(cwd, ".env"), `DATABASE_FILE=dev.db\nPORT=${port}\n`);
    const temporary = makeFolder();
    const args = ["test", "--start", `node "${APP}"`, "--to", `${port}/webhooks`];
    const { code, stdout } = await startCli(args, { cwd, env: { TMPDIR: temporary } }).ended;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^✓ email\.sent .* 200 accepted {2}/)]);
    expect([existsSync(join(cwd, "dev.db")), readdirSync(temporary)]).toEqual([false, []]);
  });

  test.each<[string, object, string]>([
    ["a dead one", sampleEvent("email.bounced"), "Handler bounces is dead, expected done: Error: the address book"],
    ["one that will run again", sampleEvent("email.complained"), "Handler complaints is retrying, expected done"],
    ["a parked event", { ...sampleEvent("email.sent"), createdAt: "noon" }, "The event was parked, since it was not"],
  ])("test with --start fails for %s without being told to look", async (_, event, failure) => {
    const { code, stdout } = await testStarted(await makeFixtures(event));
    expect([code, stdout]).toEqual([1, expect.stringContaining(failure)]);
    expect(stdout).toMatch(/^✗ /);
  });

  test("test with --start sends nothing to an app that opens another database", async () => {
    const cwd = await makeFixtures(sampleEvent("email.sent"));
    const own = join(cwd, "dev.db");
    const refused = await testStarted(cwd, [], { APP_FILE: own });
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toContain("The app did not open the database that --start gave it as DATABASE_FILE");
    expect((await runCli(["inbox", "list", "--db", own], { cwd })).stderr).toBe("No events.\n");
    expect((await testStarted(cwd, ["--answers-only"], { APP_FILE: own })).code).toBe(0);
  });

  test("test --answers-only needs no database, whatever names one", async () => {
    const app = await startReceiverApp();
    const cwd = await makeFixtures(sampleEvent("email.sent"));
    const DATABASE_URL = "postgres://app@127.0.0.1:9/app";
    const running = await runCli(["test", "--to", app.url, "--answers-only"], { cwd, env: { ...env, DATABASE_URL } });
    expect(running).toMatchObject({ code: 0, stderr: "1 passed, 0 failed.\n" });
    const temporary = makeFolder();
    expect((await testStarted(cwd, ["--answers-only"], { DATABASE_URL, TMPDIR: temporary })).code).toBe(0);
    expect([existsSync(join(cwd, "pigeonhole.db")), readdirSync(temporary)]).toEqual([false, []]);
  });

  test("test with --start keeps contact events of the app from the API that the environment names", async () => {
    const paths: string[] = [];
    const real = await serve((req, res) => (paths.push(req.url ?? ""), res.writeHead(500).end()));
    const cwd = await makeFixtures(sampleEvent("form.submitted"));
    const access = { PIGEONHOLE_BASE_URL: real.url, PIGEONHOLE_API_KEY: "svc_live_of_the_real_workspace" };
    writeFileSync(
      join(cwd, ".env"),
      Object.entries(access)
        .map((pair) => pair.join("="))
        .join("\n"),
    );
    // The fixture mentions it, so it is a contact of the emulated workspace.
    const known = { ...access, APP_CONTACT: "Ada@customer.example.com" };
    const { code, stdout } = await testStarted(cwd, ["--twice"], known);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^✓ form\.submitted .* 200 accepted {2}/)]);
    expect(paths).toEqual([]);
  });

  test("test with --start fails for a contact event that the API refused, until its file expects that", async () => {
    const cwd = await makeFixtures(sampleEvent("form.submitted"));
    const refused = await testStarted(cwd);
    const failure =
      "The contact event form.filled is dead: contactEvents.send: The contact does not exist or cannot be reached. (HTTP 404";
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining(failure)]);
    expect(refused.stdout).toMatch(
      /^✗ form\.submitted .* 200 accepted .*\n {4}The contact event .*"form\.filled":"dead"/,
    );
    expect((await testStarted(cwd, ["--update"])).code).toBe(0);
    const expected = await testStarted(cwd);
    expect([expected.code, expected.stdout]).toEqual([0, expect.stringMatching(/^! form\.submitted /)]);
  });

  test("test against a running app reads the database that DATABASE_FILE names, and without one sends nothing", async () => {
    const app = await startReceiverApp();
    const cwd = await makeFixtures(sampleEvent("email.bounced"));
    const unknown = await runCli(["test", "--to", app.url], { cwd, env });
    expect([unknown.code, unknown.stdout]).toEqual([2, ""]);
    for (const way of ["--start", "--inbox", "--answers-only"]) expect(unknown.stderr).toContain(way);
    expect(app.handled).toEqual([]);
    const known = await runCli(["test", "--to", app.url], { cwd, env: { ...env, DATABASE_FILE: app.file } });
    expect([known.code, known.stdout]).toEqual([1, expect.stringContaining("Handler bounces is dead")]);
  });

  test.each<[string, string[], Record<string, string>, number, string]>([
    ["an inbox beside --start", ["--start", "x", "--inbox", "app.db"], {}, 2, "with --start the app gets a temporary"],
    ["a DATABASE_URL that cannot be read", [], { DATABASE_URL: "postgres://a:b@db:port/a" }, 2, "cannot be read"],
    ["no server that answers", ["--answers-only"], {}, 3, "Start the app first, or have the command start it"],
  ])("test ends with what to do for %s", async (_, args, own, expected, words) => {
    const cwd = await makeFixtures(sampleEvent("email.sent"));
    const { code, stderr } = await runCli(["test", "--to", "9/webhooks", ...args], { cwd, env: { ...env, ...own } });
    expect([code, stderr]).toEqual([expected, expect.stringContaining(words)]);
  });

  test("test ends with 3 and the app's last output if the app does not start", async () => {
    const cwd = await makeFixtures(sampleEvent("email.sent"));
    const command = "printf '\\033[31mno database\\n'; exit 7";
    const { code, stderr } = await runCli(["test", "--start", command, "--to", "9/webhooks"], { cwd });
    expect(code).toBe(3);
    expect(stderr).toContain("The app ended before it answered: exit code 7. Its last output:\n  no database\n");
    expect(stderr).toContain(
      `It must listen at http://127.0.0.1:9. To see why it does not, run it alone: ${command}\n`,
    );
    const silent = await runCli(["test", "--start", "exit 1", "--to", "9/webhooks"], { cwd });
    expect(silent.stderr).toContain("exit code 1. It printed nothing.\n");
  });

  test.each([
    [
      "in place of an answer",
      "process.exit(console.log('out of memory') ?? 9)",
      3,
      "exit code 9. Its last output:\n  out",
    ],
    [
      "by an error that no code awaits",
      "res.end(), setTimeout(() => Promise.reject(new Error('away')), 100)",
      1,
      "exit code 1.",
    ],
    ["without an error after its answer", "res.end(), setTimeout(() => process.exit(0), 100)", 1, "exit code 0."],
  ])("test says that the app ended during the run, %s", async (_, work, expected, ending) => {
    const cwd = await makeFixtures(sampleEvent("email.sent"));
    const file = join(cwd, "app.mjs");
    const answer = `({ method }, res) => (method === "POST" ? (${work}) : res.end())`;
    const server = `createServer(${answer}).listen(Number(process.env.APP_PORT));`;
    writeFileSync(file, `import { createServer } from "node:http";\n${server}\n`);
    const port = String(await findFreePort());
    const args = ["test", "--start", `node "${file}"`, "--to", port, "--answers-only"];
    const { code, stderr } = await runCli(args, { cwd, env: { APP_PORT: port } });
    expect([code, stderr]).toEqual([expected, expect.stringContaining(`The app ended during the run: ${ending}`)]);
  });

  test.each(["127.0.0.1", "localhost"])(
    "test with --start does not test another program that listens at %s, and does not start the app",
    async (host) => {
      const stranger = await serve((_, response) => response.end("hello"));
      const cwd = await makeFixtures(sampleEvent("email.sent"));
      const { port } = new URL(stranger.url);
      const args = ["test", "--start", "touch started", "--to", `${host}:${port}/webhooks`];
      const { code, stdout, stderr } = await runCli(args, { cwd });
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toContain(`Port ${port} (--to) is in use by another program`);
      expect(stderr).toContain("leave out --start");
      expect(existsSync(join(cwd, "started"))).toBe(false);
    },
  );

  test("test stops the app and itself on Ctrl-C while it waits", async () => {
    const cwd = await makeFixtures(sampleEvent("email.sent"));
    const port = await findFreePort();
    const command = `node "${APP}" & wait`;
    const flags = ["--to", "9/webhooks"];
    const cli = startCli(["test", "--start", command, ...flags], { cwd, env: { APP_PORT: String(port) } });
    await expect.poll(() => answers(port)).toBe(true);
    cli.signal("SIGINT");
    expect(await cli.ended).toMatchObject({ code: 130, stdout: "", stderr: "" });
    await expect.poll(() => answers(port)).toBe(false);
  });
});
