import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type App, startReceiverApp } from "./app.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { startCli } from "../support/start-cli.js";
import type { Running } from "../support/start-program.js";
import { makeFolder } from "../support/folder.js";

const env = { WEBHOOK_SECRET: SECRET };

interface Dev {
  cli: Running;
  cwd: string;
  url: string;
}

async function startDev(app: App, args: string[] = []): Promise<Dev> {
  const cwd = makeFolder();
  const cli = startCli(["dev", "-f", app.url, "--port", "0", "--page-port", "0", "--json", ...args], { cwd, env });
  const ready = JSON.parse(await cli.line(/"kind":"ready"/)) as { captureUrl: string };
  return { cli, cwd, url: ready.captureUrl };
}

/** The command line's dev without a page, whose lines are for a person. */
async function startPlain(app: App, args: string[] = []): Promise<Dev> {
  const cwd = makeFolder();
  const cli = startCli(["dev", "-f", app.url, "--port", "0", "--no-page", ...args], { cwd, env });
  return { cli, cwd, url: (await cli.line(/^ {2}Receiving/)).split(/\s+/)[2] ?? "" };
}

function trigger(url: string, ...args: string[]) {
  return runCli(["trigger", "email.received", "--to", url, ...args], { env });
}

describe("dev", () => {
  test("dev captures, forwards, prints JSON lines, and ends with 130 on Ctrl-C", async () => {
    const app = await startReceiverApp();
    const { cli, url } = await startDev(app);
    expect(await trigger(url, "--expect", "200")).toMatchObject({ code: 0 });
    const line = JSON.parse(await cli.line(/"kind":"forwarded"/)) as object;
    expect(line).toMatchObject({
      schemaVersion: 1,
      answer: 200,
      verdict: { code: "ok", secretRef: "env:WEBHOOK_SECRET" },
    });
    await expect.poll(() => app.handled).toHaveLength(1);
    cli.signal("SIGINT");
    const { code, stdout, stderr } = await cli.ended;
    expect([code, stderr]).toEqual([130, ""]);
    expect(stdout).not.toContain(SECRET);
  });

  test("dev with the inbox prints what a handler made of a delivery and of a replay, when it happens", async () => {
    const app = await startReceiverApp();
    const { cli, cwd, url } = await startPlain(app, ["--inbox", app.file]);
    expect(await cli.line(/^ {2}Inbox/)).toContain(app.file);
    await cli.line(/Ready\./);
    const failure = /^[\d:]{8} {2}email\.bounced +✗ handler bounces dead {2}\w{6} {2}.*: the mail server is away$/;
    await runCli(["trigger", "email.bounced", "--to", url], { env });
    await cli.line(failure);
    await runCli(["replay", "last", "--new-id"], { cwd, env });
    await expect.poll(() => cli.lines.filter((line) => failure.test(line)).length).toBe(2);
    await runCli(["trigger", "email.sent", "--to", url, "--set", "createdAt=noon"], { env });
    await cli.line(/! signed +200 parked/);
    await cli.line(/! event parked {2}\w{6} {2}bad_envelope: /);
    expect(cli.lines.filter((line) => failure.test(line))).toHaveLength(2);
  });

  test("dev reads the inbox of the database that DATABASE_FILE names, and starts without one that is not a receiver's", async () => {
    const app = await startReceiverApp();
    const start = (file: string) => {
      const args = ["dev", "-f", app.url, "--port", "0", "--no-page"];
      return startCli(args, { cwd: makeFolder(), env: { ...env, DATABASE_FILE: file } });
    };
    expect(await start(app.file).line(/^ {2}Inbox/)).toContain(app.file);
    const foreign = join(makeFolder(), "notes.txt");
    writeFileSync(foreign, "no database");
    const other = start(foreign);
    expect(await other.line(/^ {2}Inbox/)).toContain("not known");
    other.signal("SIGINT");
    expect((await other.ended).stderr).toContain("DATABASE_FILE");
  });

  test("dev finds the inbox that an app makes later, says so once, and follows it", async () => {
    const app = await startReceiverApp();
    const { cli, cwd, url } = await startPlain(app);
    expect(await cli.line(/^ {2}Inbox/)).toContain("not known");
    await cli.line(/Ready\./);
    symlinkSync(app.file, join(cwd, "pigeonhole.db"));
    await cli.line(/^ {2}Inbox +\S+pigeonhole\.db$/);
    await runCli(["trigger", "email.sent", "--to", url, "--set", "createdAt=noon"], { env });
    await cli.line(/! event parked {2}\w{6} {2}bad_envelope: /);
    await cli.line(/npx pigeonhole inbox retry \S+$/);
    expect(cli.lines.filter((line) => /^ {2}Inbox/.test(line))).toHaveLength(2);
  });

  test("dev prints plain lines without a terminal", async () => {
    const app = await startReceiverApp();
    const { cli, cwd, url } = await startPlain(app);
    await cli.line(/Ready\./);
    await trigger(url);
    await trigger(url, "--sign", "tampered");
    expect(await cli.line(/✗ mismatch +503/)).toBeDefined();
    const line = await cli.line(/^[\d:]{8} {2}email\.received +✓ signed +200/);
    const [, name = ""] = /\d+ms {2}([0-9a-z]{6})(?: |$)/.exec(line) ?? [];
    // The name in the log is one that the other commands take.
    const shown = jsonLines(await runCli(["captures", "show", name, "--json"], { cwd }));
    expect(shown).toMatchObject([{ capture: { verify: { code: "ok" } } }]);
    expect(cli.lines.join("")).not.toContain("\u001b");
    cli.signal("SIGTERM");
    expect((await cli.ended).code).toBe(143);
  });

  test("dev stops in order if its terminal is closed, and its tunnel ends with it", async () => {
    const cwd = makeFolder();
    const [beats, ended] = [join(cwd, "beats"), join(cwd, "ended")];
    writeFileSync(
      join(cwd, "tunnel.sh"),
      "trap 'sleep 0.5; echo in order > ended; exit' TERM\necho https://run.example.com\nwhile :; do echo >> beats; sleep 0.05; done\n",
    );
    const cli = startCli(["dev", "--port", "0", "--no-page", "--tunnel", "sh tunnel.sh {port}"], { cwd, env });
    await cli.line(/Ready\./);
    await expect.poll(() => existsSync(beats)).toBe(true);
    // Once from the shell, and once from the system.
    cli.signal("SIGHUP");
    cli.signal("SIGHUP");
    expect((await cli.ended).code).toBe(129);
    expect(readFileSync(ended, "utf8")).toBe("in order\n");
    const { size } = statSync(beats);
    await sleep(500);
    expect(statSync(beats).size).toBe(size);
  });
});

describe("dev for a beginner", () => {
  test("dev says at once that a text cannot be a secret, and continues", async () => {
    const { code, stdout, stderr } = await endedWhenReady(["--no-page"], { WEBHOOK_SECRET: `"${SECRET}"` });
    expect([code, stderr]).toEqual([130, expect.stringContaining("quotes")]);
    expect(stdout + stderr).not.toContain(SECRET);
  });

  test("dev says what is missing if there is no secret and no forward", async () => {
    const { stdout } = await endedWhenReady([], {});
    expect(stdout).toMatch(/Secret +none .*WEBHOOK_SECRET/);
    expect(stdout).toMatch(/Forwarding +nowhere .*-f 3000/);
  });

  test("dev ends on Ctrl-C while a tunnel is still starting", async () => {
    const cli = startCli(["dev", "--port", "0", "--no-page", "--tunnel", `"${process.execPath}" -i {port}`], { env });
    await cli.line(/Starting the tunnel/);
    cli.signal("SIGINT");
    expect(await cli.ended).toMatchObject({ code: 130, stderr: "" });
  });

  async function endedWhenReady(args: string[], variables: Record<string, string>) {
    const cli = startCli(["dev", "--port", "0", "--page-port", "0", ...args], { env: variables });
    await cli.line(/Ready\./);
    cli.signal("SIGINT");
    return cli.ended;
  }
});
