import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type HandlerContext, createReceiver, createSqliteStore } from "pigeonhole";
import { createSandbox } from "pigeonhole/sandbox";
import { deliver, sampleEvent, signDelivery } from "pigeonhole/testing";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { startReceiverApp } from "./app.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { startCli } from "../support/start-cli.js";
import { makeFolder } from "../support/folder.js";
import { tempFile } from "../support/receiver.js";
import { writeRuns } from "../support/ended-runs.js";

describe("inbox, beside a running receiver", () => {
  test("inbox list shows events with each handler's state, as text and as JSON", async () => {
    const app = await startReceiverApp();
    const sent = await app.receive("email.sent");
    const bounced = await app.receive("email.bounced");
    const { code, stdout } = await app.run("inbox", "list");
    expect(code).toBe(0);
    expect(stdout).toMatch(
      new RegExp(`✗ dead +email.bounced +${bounced} +all:done bounces:dead\n.*✓ done +email.sent +${sent}`),
    );
    const dead = jsonLines(await app.run("inbox", "list", "--state", "dead", "--json"));
    expect(dead).toMatchObject([{ schemaVersion: 1, event: { id: bounced, state: "dead" } }]);
  });

  test("an event that no handler takes is not listed as done", async () => {
    const app = await startReceiverApp();
    const event = sampleEvent("email.sent", { test: true });
    await deliver(app.receiver, event, { secret: SECRET });
    const inbox = (...args: string[]) => app.run("inbox", ...args);
    expect((await inbox("list")).stdout).toMatch(new RegExp(`! unhandled +email.sent +${event.id}`));
    expect((await inbox("show", event.id)).stdout).toContain("state     ! unhandled\n");
    expect((await inbox("list", "--state", "done")).stderr).toBe("No such events.\n");
    expect(jsonLines(await inbox("list", "--json"))).toMatchObject([{ event: { state: "unhandled" } }]);
  });

  test("inbox show prints the error, a readable body, and with --body the exact bytes", async () => {
    const app = await startReceiverApp();
    const id = await app.receive("email.bounced");
    const { stdout } = await app.run("inbox", "show", id);
    expect(stdout).toContain("handler   bounces: ✗ dead (attempts_spent), 1 of 1 attempt");
    expect(stdout).toMatch(
      /\n {10}attempt 1 \(\d{4}-[-T:.\d]+Z\):\n {10}Error: the mail server is away\n {14}at .*app\.ts:\d+:\d+/,
    );
    const listed = await app.run("inbox", "list", "--error", "app.ts");
    expect(listed.stderr).toBe("No such events.\n");
    const bytes = await app.run("inbox", "show", id, "--body");
    const stored = await app.receiver.inbox.get(id);
    expect(bytes.stdout).toBe(Buffer.from(stored?.body ?? []).toString());
  });

  test("inbox show has the contact events of the handlers with the API's answers, and the time line", async () => {
    const file = tempFile();
    const sandbox = createSandbox({ contacts: [{ email: "known@example.com" }] });
    onTestFinished(() => sandbox.close());
    const plain = { secrets: SECRET, store: file, logger: silentLogger, telemetry: false };
    const receiver = createReceiver({ ...plain, api: sandbox.clientOptions });
    // Colours, and turns the direction of what follows.
    const hostile = "\u001b[31m\u202e";
    const handle = async (_: unknown, ctx: HandlerContext): Promise<void> => {
      await ctx.step(`look ${hostile}up`, () => 1);
      for (const who of ["known", "unknown"])
        ctx.contactEvents.record({ name: "greeted", email: `${who}@example.com` });
    };
    receiver.on("email.sent", handle, { name: "crm" });
    const event = sampleEvent("email.sent");
    await deliver(receiver, event, { secret: SECRET });
    onTestFinished(() => receiver.stop());
    const statesOf = async () => (await receiver.contactEvents.list()).items.map(({ state }) => state).toSorted();
    await expect.poll(statesOf).toEqual(["dead", "done"]);

    const show = (...args: string[]) => runCli(["inbox", "show", event.id, "--db", file, ...args]);
    const [{ stdout }, json] = [await show(), await show("--json")];
    const text = stdout.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>");
    for (const part of [
      "\ncontact events\n  greeted for unknown@example.com: ✗ dead (refused), 1 attempt, settled <time>\n",
      "\n  greeted for known@example.com: ✓ done, 1 attempt, stored as ",
      "\ntime line\n  <time>  The service signed the delivery that was stored.\n  <time>  Received, verified",
      String.raw`  <time>  crm has finished the step look \u001b[31m\u202eup.`,
    ])
      expect(text).toContain(part);
    for (const sign of hostile) if (sign < " " || sign > "~") expect(stdout + json.stdout).not.toContain(sign);
    const refused = { state: "dead", code: "contact_not_found", contact: "unknown@example.com" };
    const step = { kind: "step_done", handler: "crm", text: `crm has finished the step look ${hostile}up.` };
    const timeline = expect.arrayContaining([expect.objectContaining(step)]) as unknown;
    expect(jsonLines(json)).toMatchObject([{ event: { contactEvents: [refused, { state: "done" }], timeline } }]);
  });

  test("work that is retried is shown with its attempts of how many, the next time and the finished steps", async () => {
    const app = await startReceiverApp();
    const id = await app.receive("email.complained");
    const retrying = "retrying, 1 of 5 attempts, next at \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z";
    const row = new RegExp(`… retrying +email.complained +${id} +all:done complaints:${retrying}`);
    expect((await app.run("inbox", "list")).stdout).toMatch(row);
    const { stdout } = await app.run("inbox", "show", id);
    expect(stdout).toMatch(new RegExp(`^handler   complaints: … ${retrying}\\n`, "m"));
    expect(stdout).toMatch(
      /attempt 1 .*\n +Error: try again later\n(?: +at .*\n)* +finished step look up \(\d{4}-.*Z\)\n/,
    );
    const [line] = jsonLines(await app.run("inbox", "show", id, "--json"));
    const at = expect.stringMatching(/^\d{4}-[-T:.\d]+Z$/) as string;
    const kept = { failed: { last: { attempt: 1, at } }, steps: [{ name: "look up", at }] };
    const work = { state: "retrying", attempts: 1, maxAttempts: 5, ...kept };
    expect(line).toMatchObject({ event: { handlers: [{}, work] } });
  });

  test("the terminal gets control characters of ids and arguments as escapes in results, errors and JSON lines", async () => {
    const app = await startReceiverApp();
    const id = "evt_\u009b2J\u202egnp\u2028";
    const body = JSON.stringify({ ...sampleEvent("email.sent"), id });
    const headers = signDelivery({ body, secret: SECRET });
    expect((await fetch(app.url, { method: "POST", body, headers })).status).toBe(200);
    const commands = [
      ["inbox", "list", "--db", app.file],
      ["inbox", "show", id, "--db", app.file],
      ["inbox", "show", `${id}_none`, "--db", app.file],
      ["inbox", "show", id, "--db", `${app.file}\u009b\u001b[2J`],
      ["captures", "show", id],
      ["replay", id, "--to", "3000"],
      ["trigger", "email.sent", "--to", `\u001b]0;x\u0007${id}`],
      [`\u001b[2J${id}`],
    ];
    for (const args of commands) {
      for (const json of [[], ["--json"]]) {
        const { stdout, stderr } = await runCli([...args, ...json], { env: { WEBHOOK_SECRET: SECRET } });
        expect(stdout + stderr, args.join(" ")).not.toMatch(/[^\P{Cc}\n]|[\u202e\u2028]/u);
        expect(stdout + stderr, args.join(" ")).toContain("\\u009b");
      }
    }
    const { stdout } = await app.run("inbox", "show", id, "--json");
    expect(jsonLines({ stdout })[0]).toMatchObject({ event: { id } });
  });

  test("inbox retry gives dead work another attempt, which the running receiver takes", async () => {
    const app = await startReceiverApp();
    const id = await app.receive("email.bounced");
    app.fix();
    // From another process, as on a server.
    const { code, stdout } = await startCli(["inbox", "retry", "--state", "dead", "--db", app.file]).ended;
    expect([code, stdout]).toEqual([0, "1 handler will run again\n"]);
    await expect.poll(async () => (await app.receiver.inbox.get(id))?.state).toBe("done");
    expect(app.handled).toEqual([id]);
  });

  test("inbox stats --watch prints them again until Ctrl-C, which ends it with 0", async () => {
    const app = await startReceiverApp();
    const watch = startCli(["inbox", "stats", "--watch", "--db", app.file, "--json"]);
    await expect.poll(() => watch.lines.length).toBeGreaterThan(1);
    watch.signal("SIGINT");
    const ended = await watch.ended;
    expect(ended.code).toBe(0);
    expect(jsonLines(ended).at(-1)).toMatchObject({ state: "stopped", processes: 0, running: 0, runs: [] });
  });

  test("inbox stats prints how long handlers took, and how many of their runs failed", async () => {
    const file = join(makeFolder(), "inbox.db");
    const store = createSqliteStore({ file });
    await store.open({ logger: silentLogger });
    const run = (handler: string, outcome: "done" | "failed", fromMs: number, runs: number) => {
      return { handler, outcome, fromMs, runs };
    };
    const hourAgo = Date.now() - 3_600_000;
    await writeRuns(store, [run("old", "done", 1, 1)], hourAgo - 25 * 3_600_000);
    const runs = [
      run("billing", "done", 20, 90),
      run("billing", "done", 500, 9),
      run("billing", "failed", 10_000, 1),
      run("audit", "done", 0, 999),
      run("audit", "failed", 0, 1),
      run("import", "done", 60_000, 1),
      run("import", "failed", 300_000, 2),
    ];
    await writeRuns(store, runs, hourAgo);
    await store.close();
    const stats = async (...options: string[]) => (await runCli(["inbox", "stats", "--db", file, ...options])).stdout;
    const lines = (await stats()).split("\n");
    expect(lines.at(-6)).toMatch(/^handlers since 20\S+Z$/);
    expect(lines.slice(-5)).toEqual([
      "  HANDLER  RUNS  FAILED     MEDIAN   P95",
      "  audit    1000  1 (< 1 %)  < 1 ms   < 1 ms",
      "  billing  100   1 (1 %)    < 22 ms  < 550 ms",
      "  import   3     2 (66 %)   > 5 min  > 5 min",
      "",
    ]);
    expect(await stats("--since", "10m")).toMatch(/\n {2}none\n$/);
    expect(await stats("--since", "7d", "--until", "10h")).toMatch(
      / until \S+Z\n.*\n {2}old +1 +0 +< 1\.1 ms +< 1\.1 ms\n$/,
    );
    const [record] = jsonLines({ stdout: await stats("--json") });
    expect(record).toMatchObject({
      handlerTimes: [
        { handler: "audit", runs: 1000, failed: 1, medianMs: 1, p95Ms: 1 },
        { handler: "billing", medianMs: 22, p95Ms: 550 },
        { handler: "import", medianMs: null, p95Ms: null },
      ],
    });
  });

  test("an unknown id ends with 1, and the other ids are processed", async () => {
    const app = await startReceiverApp();
    const id = await app.receive("email.bounced");
    const { code, stdout, stderr } = await app.run("inbox", "retry", "evt_none", id);
    expect(code).toBe(1);
    expect(stderr).toContain("evt_none");
    expect(stdout).toContain(`${id}  1 handler`);
  });

  test("the database is that of --db, otherwise that of DATABASE_FILE in the environment or in .env", async () => {
    const app = await startReceiverApp();
    await app.receive("email.sent");
    const cwd = makeFolder();
    writeFileSync(join(cwd, ".env"), `DATABASE_FILE=${app.file}\n`);
    const list = async (args: string[], env = {}) => runCli(["inbox", "list", "--json", ...args], { cwd, env });
    expect(jsonLines(await list([]))).toHaveLength(1);
    const other = await startReceiverApp();
    expect(await list([], { DATABASE_FILE: other.file })).toMatchObject({ code: 0, stdout: "" });
    expect(jsonLines(await list(["--db", app.file], { DATABASE_FILE: other.file }))).toHaveLength(1);
    expect((await runCli(["outbox", "list"], { cwd })).code).toBe(0);
  });

  test("the error for a missing database names it, the variable that set it and the option that sets another", async () => {
    const cwd = makeFolder();
    const bare = await runCli(["inbox", "list"], { cwd });
    expect([bare.code, bare.stderr]).toEqual([
      2,
      `error: There is no file ${join(cwd, "pigeonhole.db")}. Give the receiver's database with --db, or set DATABASE_FILE or DATABASE_URL in the environment or in .env.\n`,
    ]);
    const named = await runCli(["outbox", "list"], { cwd, env: { DATABASE_FILE: "data/gone.db" } });
    expect(named.stderr).toContain(`${join(cwd, "data/gone.db")}, which DATABASE_FILE names.`);
  });

  test("captures export --from-inbox removes personal data, and its events can be replayed elsewhere", async () => {
    const app = await startReceiverApp();
    const id = await app.receive("email.received", { from: "grace@bank.example.com", subject: "Account of Hopper" });
    await app.receive("email.sent");
    const cwd = makeFolder();
    const args = ["captures", "export", "after:1h", "--from-inbox", app.file, "--out", "events.ndjson"];
    expect(await runCli(args, { cwd })).toMatchObject({ code: 0, stdout: "2 captures in events.ndjson.\n" });
    const file = join(cwd, "events.ndjson");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).not.toMatch(/grace|bank|Hopper/);

    const elsewhere = await startReceiverApp();
    const replayed = await runCli(["replay", "events.ndjson", "--to", elsewhere.url], {
      cwd,
      env: { WEBHOOK_SECRET: SECRET },
    });
    expect(replayed.code).toBe(0);
    await expect.poll(() => elsewhere.handled.length).toBe(2);
    expect(elsewhere.handled).toContain(id);
    const chosen = ["captures", "export", "type:email.received", "--redact", "none", "--from-inbox"];
    const none = await runCli(chosen, { env: { DATABASE_FILE: app.file } });
    expect(none.stdout).toContain("grace@bank.example.com");
    expect(none.stdout).not.toContain("email.sent");
  });
});
