import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { sampleEvent } from "pigeonhole/testing";
import { type App, startReceiverApp } from "./app.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { type CliProcess, startCli } from "../support/start-cli.js";
import { makeFolder } from "../support/folder.js";

const env = { WEBHOOK_SECRET: SECRET };

interface Dev {
  cli: CliProcess;
  cwd: string;
  url: string;
}

async function startDev(app: App, args: string[] = []): Promise<Dev> {
  const cwd = makeFolder();
  const cli = startCli(["dev", "-f", app.url, "--port", "0", "--page-port", "0", "--json", ...args], { cwd, env });
  const ready = JSON.parse(await cli.line(/"kind":"ready"/)) as { captureUrl: string };
  return { cli, cwd, url: ready.captureUrl };
}

function trigger(url: string, ...args: string[]) {
  return runCli(["trigger", "email.received", "--to", url, ...args], { env });
}

describe("dev", () => {
  test("dev captures, forwards, prints JSON lines, and ends with 130 on Ctrl-C", async () => {
    const app = await startReceiverApp();
    const { cli, cwd, url } = await startDev(app, ["--ready-file", "ready.json"]);
    const ready = join(cwd, "ready.json");
    await expect.poll(() => existsSync(ready)).toBe(true);
    expect(JSON.parse(readFileSync(ready, "utf8"))).toMatchObject({ captureUrl: url });
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
    expect(existsSync(ready)).toBe(false);
  });

  test("dev with the inbox prints what a handler made of a delivery and of a replay, when it happens", async () => {
    const app = await startReceiverApp();
    const cwd = makeFolder();
    const args = ["dev", "-f", app.url, "--port", "0", "--no-page", "--inbox", app.file];
    const cli = startCli(args, { cwd, env });
    const url = (await cli.line(/^ {2}Receiving/)).split(/\s+/)[2] ?? "";
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

  test("dev reads the inbox of the database that DATABASE_FILE names, else of pigeonhole.db, and starts without one that is not a receiver's", async () => {
    const app = await startReceiverApp();
    const start = (file: string) => {
      const args = ["dev", "-f", app.url, "--port", "0", "--no-page"];
      return startCli(args, { cwd: makeFolder(), env: { ...env, DATABASE_FILE: file } });
    };
    expect(await start(app.file).line(/^ {2}Inbox/)).toContain(app.file);
    const cwd = makeFolder();
    symlinkSync(app.file, join(cwd, "pigeonhole.db"));
    const byDefault = startCli(["dev", "-f", app.url, "--port", "0", "--no-page"], { cwd, env });
    expect(await byDefault.line(/^ {2}Inbox/)).toContain("pigeonhole.db");
    const foreign = join(makeFolder(), "notes.txt");
    writeFileSync(foreign, "no database");
    const other = start(foreign);
    expect(await other.line(/^ {2}Inbox/)).toContain("not known");
    other.signal("SIGINT");
    expect((await other.ended).stderr).toContain("DATABASE_FILE");
  });

  test("dev finds the inbox that an app makes later, says so once, and follows it", async () => {
    const app = await startReceiverApp();
    const cwd = makeFolder();
    const cli = startCli(["dev", "-f", app.url, "--port", "0", "--no-page"], { cwd, env });
    const url = (await cli.line(/^ {2}Receiving/)).split(/\s+/)[2] ?? "";
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
    const cwd = makeFolder();
    const cli = startCli(["dev", "-f", app.url, "--port", "0", "--no-page"], { cwd, env });
    const url = (await cli.line(/^ {2}Receiving/)).split(/\s+/)[2] ?? "";
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

  test("a second dev on the same port ends with 2 and names the option", async () => {
    const app = await startReceiverApp();
    const { url } = await startDev(app);
    const { port } = new URL(url);
    const { code, stderr } = await runCli(["dev", "--port", port, "--no-page"]);
    expect(code).toBe(2);
    expect(stderr).toContain("--port");
  });

  test.each([
    [["--on-invalid", "reject"], "--on-invalid"],
    [["--register"], "give --tunnel cloudflared"],
    [["--register", "--public-url", "https://hooks.example.com"], "PIGEONHOLE_BASE_URL"],
    [
      ["--register", "--public-url", "http://hooks.example.com", "--base-url", "http://127.0.0.1:9", "--api-key", "k"],
      "--public-url must be an https URL",
    ],
    [["-f", "99999"], '--forward-to: "99999" is not a target'],
    [["-H", "no colon"], "must be a header"],
    [["--ready-file", "no-folder/ready.json"], "--ready-file: "],
    [["--register-type", "email.sent"], "give --register too"],
    [["--path", "hooks"], "--path must start"],
    [["-f", "http://a:b@c/"], "target"],
    [["--cacert", "none.pem"], "--cacert: the file none.pem"],
    [["--inbox", "none.db"], "none.db"],
  ])("dev %j ends with 2 before anything listens", async (args, words) => {
    const { code, stdout, stderr } = await runCli(["dev", "--port", "0", "--no-page", ...args]);
    expect(stderr).toContain(words);
    expect([code, stdout]).toEqual([2, ""]);
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

describe("captures and replay, beside a running dev server", () => {
  test("captures list, show and verify and replay work on what a running dev server captured", async () => {
    const app = await startReceiverApp();
    const { cwd, url } = await startDev(app);
    await trigger(url);
    await trigger(url, "--sign", "stale");
    const at = { cwd, env };

    const listed = jsonLines(await runCli(["captures", "list", "--json"], at));
    expect(listed).toMatchObject([
      { schemaVersion: 1, capture: { verdict: "stale", status: 503 } },
      { schemaVersion: 1, capture: { verdict: "ok", status: 200 } },
    ]);
    expect(jsonLines(await runCli(["captures", "list", "verdict:ok", "--json"], at))).toHaveLength(1);

    const body = await runCli(["captures", "show", "last", "--body"], at);
    expect(JSON.parse(body.stdout)).toMatchObject({ type: "email.received" });
    expect((await runCli(["captures", "show", "last"], at)).stdout).toContain("✗ stale");
    expect(await runCli(["verify", "verdict:ok"], at)).toMatchObject({ code: 0 });
    expect(await runCli(["verify", "last"], at)).toMatchObject({ code: 1 });

    // The stale one, signed again, is accepted; a second time it is a duplicate; with a new id it runs again.
    const replay = async (...args: string[]) => {
      const result = await runCli(["replay", "last", "--expect", "200", "--json", ...args], at);
      const headers = jsonLines(result).map(({ attempt }) => (attempt as { headers: [string, string][] }).headers);
      return [result.code, headers.flat().find(([name]) => name === "x-pigeonhole-outcome")?.[1]];
    };
    expect(await replay()).toEqual([0, "accepted"]);
    expect(await replay()).toEqual([0, "duplicate"]);
    expect(await replay("--new-id")).toEqual([0, "accepted"]);
    expect(await replay("--exact")).toEqual([1, "unverified"]);
    await expect.poll(() => app.handled.length).toBe(3);
  });

  test("replay of many captures at once keeps their ids and gaps, and causes no warning of Node", async () => {
    const app = await startReceiverApp();
    const { cwd, url } = await startDev(app);
    await trigger(url, "-n", "15");
    const at = { cwd, env };
    const { code, stdout, stderr } = await runCli(["replay", "all", "--same-id", "--keep-timing", "1000x"], at);
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^What the app.s handlers make of it is not known [^\n]+\n15 of 15 answered, 15 not run, /),
    ]);
    expect(stdout.match(/200 duplicate/g)).toHaveLength(15);
    expect(await runCli(["replay", "last", "--keep-timing"], at)).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining("Warning") as string,
    });
  });

  test("replay compares with the previous attempt, and ends with 3 if no server listens", async () => {
    const app = await startReceiverApp();
    const { cwd, url } = await startDev(app);
    await trigger(url);
    const at = { cwd, env };
    const gone = await runCli(["replay", "last", "--to", "9/"], at);
    expect([gone.code, gone.stdout]).toEqual([3, expect.stringContaining("Nothing listens")]);
    const back = await runCli(["replay", "last", "--to", app.url, "--json"], at);
    expect(back.code).toBe(0);
    expect((await runCli(["captures", "show", "last"], at)).stdout).toMatch(
      /attempt 3 .*200 duplicate.*replay, resign/,
    );
  });

  test("replay says of a duplicate that nothing ran, and how it runs again or is retried", async () => {
    const app = await startReceiverApp();
    const cwd = makeFolder();
    writeFileSync(join(cwd, "event.json"), JSON.stringify(sampleEvent("email.bounced", {}, { id: "evt_away" })));
    await runCli(["captures", "import", "event.json"], { cwd });
    const replay = (...args: string[]) => runCli(["replay", "last", "--to", app.url, ...args], { cwd, env });
    expect((await replay()).stdout).toMatch(/^✓ email\.bounced {2}evt_away .* 200 accepted /);
    await expect.poll(async () => (await app.receiver.inbox.get("evt_away"))?.state).toBe("dead");

    const again = await replay();
    expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/^! email\.bounced .* 200 duplicate /)]);
    expect(again.stdout).toContain("Not run: the receiver has this id. --new-id runs it again under a new id.");
    expect(again.stdout).toContain("Different from the time before: outcome accepted → duplicate.");
    expect(again.stdout).not.toContain("inbox retry");

    const advice = [
      "Handler bounces is dead: attempts_spent: Error: the mail server is away",
      `To retry it: npx pigeonhole inbox retry evt_away --db ${app.file}`,
    ].join("\n    ");
    expect((await replay("--inbox", app.file)).stdout).toContain(advice);
    const known = await runCli(["replay", "last", "--to", app.url], { cwd, env: { ...env, DATABASE_FILE: app.file } });
    expect(known.stdout).toContain(advice);

    app.fix();
    expect((await replay("--new-id")).stdout).toMatch(/^✓ .* 200 accepted /);
    expect((await replay("-n", "2")).stderr).toMatch(
      /^What [^\n]+\n2 of 2 answered, 2 not run, since the receiver has them, 1 different from the time before\.\n$/,
    );
  });

  test("replay warns of a parked event, with the reason where the inbox is known", async () => {
    const app = await startReceiverApp();
    const cwd = makeFolder();
    const event = { ...sampleEvent("email.sent", {}, { id: "evt_odd" }), createdAt: "noon" };
    writeFileSync(join(cwd, "event.json"), JSON.stringify(event));
    await runCli(["captures", "import", "event.json"], { cwd });
    const flags = ["--to", app.url, "--inbox", app.file];
    const parked = await runCli(["replay", "last", ...flags], { cwd, env });
    expect([parked.code, parked.stdout]).toEqual([0, expect.stringMatching(/^! email\.sent .* 200 parked /)]);
    expect(parked.stdout).toContain("Parked: not understood, so no handler ran.");
    expect(parked.stdout).toContain("The event is parked: bad_envelope: ");
    expect((await runCli(["captures", "list", "outcome:parked"], { cwd })).stdout).toMatch(/ 200 parked +\d+ ms /);
    expect(parked.stdout).toContain(
      "After a fix, to have the app read it again: npx pigeonhole inbox retry evt_odd --db",
    );
  });

  test("replay of many captures in random order prints its seed, and --dry-run sends nothing", async () => {
    const app = await startReceiverApp();
    const { cwd, url } = await startDev(app);
    await trigger(url, "-n", "3");
    const at = { cwd, env };
    const planned = await runCli(["replay", "all", "--dry-run"], at);
    expect(planned.stdout.split("\n").filter((line) => line.includes(`→ ${app.url}`))).toHaveLength(3);
    const { code, stderr, stdout } = await runCli(
      ["replay", "all", "--order", "shuffle", "--seed", "7", "-n", "2"],
      at,
    );
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^What [^\n]+\n6 of 6 answered, 6 not run, .*, seed 7\.\n$/),
    ]);
    expect(stdout.match(/200 duplicate/g)).toHaveLength(6);
  });

  test.each([
    [["replay"], "Nothing to replay: give last"],
    [["replay", "cap_nothing"], "no_capture|No capture"],
    [["replay", "last", "--exact", "--new-id"], "--exact sends the captured bytes, so --new-id"],
    [["replay", "last", "--same-id", "--new-id"], "--same-id and --new-id cannot be used together"],
    [["replay", "nonsense:1"], "nonsense"],
    [["captures", "show", "type:email.*"], "picks 2 captures; give one"],
    [["captures", "rm", "all"], "--yes"],
  ])("the command line %j beside a running dev server ends with 2 and says what is wrong", async (args, words) => {
    const app = await startReceiverApp();
    const { cwd, url } = await startDev(app);
    await trigger(url, "-n", "2");
    const { code, stderr } = await runCli(args, { cwd, env });
    expect(stderr).toMatch(new RegExp(words));
    expect(code).toBe(2);
  });

  test("captures rm deletes what a running dev server captured", async () => {
    const app = await startReceiverApp();
    const { cwd, url, cli } = await startDev(app);
    await trigger(url, "-n", "2");
    cli.signal("SIGINT");
    await cli.ended;
    expect(await runCli(["captures", "rm", "last", "--yes"], { cwd })).toMatchObject({
      code: 0,
      stdout: "1 deleted.\n",
    });
    expect(jsonLines(await runCli(["captures", "list", "--json"], { cwd }))).toHaveLength(1);
  });
});
