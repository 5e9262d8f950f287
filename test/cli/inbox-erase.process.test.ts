import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { deliver, sampleEvent, signDelivery } from "pigeonhole/testing";
import { describeErasure } from "#pigeonhole/cli/inbox/erase.js";
import { makeFolder } from "../support/folder.js";
import { type CliResult, jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { type App, startReceiverApp } from "./app.js";
import { importEvents } from "./import-events.js";

const EMAIL = "ann.particular@example.com";

const sent = (recipient: string) =>
  sampleEvent("email.sent", { data: { ...sampleEvent("email.sent").data, to: [recipient] } });

function erase(app: App, options: { cwd: string }, ...args: string[]): Promise<CliResult> {
  return runCli(["inbox", "erase", "--db", app.file, "--email", EMAIL, ...args], options);
}

/** A folder with captures of these events, the first one pinned. */
async function captureAll(events: object[]): Promise<{ cwd: string; files: () => string[] }> {
  const cwd = await importEvents(...events);
  const folder = join(cwd, ".pigeonhole", "captures");
  const files = () => readdirSync(folder).map((name) => join(folder, name));
  for (const file of files()) {
    const capture = JSON.parse(readFileSync(file, "utf8")) as object;
    writeFileSync(file, JSON.stringify({ ...capture, pinned: true }));
  }
  return { cwd, files };
}

describe("inbox erase, beside a running receiver", () => {
  test("inbox erase finds events and captures beside a running receiver, and nothing runs twice", async () => {
    const app = await startReceiverApp();
    const erased = Array.from({ length: 30 }, () => sent(EMAIL.toUpperCase()));
    for (const event of erased) await deliver(app.receiver, event, { secret: SECRET });
    const { cwd, files } = await captureAll([...erased.slice(0, 2), sent("b@example.com")]);

    const result = await erase(app, { cwd }, "--yes", "--json");
    expect([result.code, result.stderr]).toEqual([0, ""]);
    expect(jsonLines(result)).toMatchObject([
      {
        dryRun: false,
        events: 30,
        work: 0,
        eventsLeft: 0,
        contactEvents: 0,
        contactEventsLeft: 0,
        captures: 2,
        walLeft: `${app.file}-wal`,
      },
    ]);
    expect(files()).toHaveLength(1);

    for (const { id } of erased) expect(await app.receiver.inbox.get(id)).toMatchObject({ body: null });
    for (const event of erased) {
      expect((await deliver(app.receiver, event, { secret: SECRET })).outcome).toBe("duplicate");
    }
    expect(app.handled.filter((id) => erased.some((event) => event.id === id))).toHaveLength(30);
    // The last connection writes the WAL into the database and removes it.
    await app.receiver.stop();
    expect(readFileSync(app.file, "latin1").toLowerCase()).not.toContain(EMAIL);
  });

  test("inbox erase with --dry-run counts, and changes nothing", async () => {
    const app = await startReceiverApp();
    const event = sampleEvent("email.bounced", { data: { ...sampleEvent("email.bounced").data, to: [EMAIL] } });
    await deliver(app.receiver, event, { secret: SECRET });
    await expect.poll(async () => (await app.receiver.inbox.get(event.id))?.state).toBe("dead");
    const { cwd, files } = await captureAll([event]);
    const { code, stdout } = await erase(app, { cwd }, "--dry-run");
    expect([code, stdout]).toEqual([
      0,
      "1 event would be erased\n1 piece of work would be ended without a run\n0 contact events would be erased\n1 capture would be deleted\n",
    ]);
    expect(await app.receiver.inbox.get(event.id)).toMatchObject({ state: "dead", body: expect.anything() });
    expect(files()).toHaveLength(1);
    expect((await erase(app, { cwd }, "--yes")).stdout).toMatch(/^1 event erased\n/);
    expect(await app.receiver.inbox.get(event.id)).toMatchObject({ state: "done", body: null });
    const retried = await runCli(["inbox", "retry", event.id, "--db", app.file]);
    expect([retried.code, retried.stderr]).toEqual([1, expect.stringContaining("was dropped by retention or erased")]);
  });

  test("inbox erase leaves an event that is being handled, says so, and ends with 1", async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const app = await startReceiverApp(() => released);
    const event = sent(EMAIL);
    const body = JSON.stringify(event);
    const headers = signDelivery({ body, secret: SECRET });
    expect((await fetch(app.url, { method: "POST", body, headers })).status).toBe(200);
    const cwd = makeFolder();
    const { code, stdout } = await erase(app, { cwd }, "--yes");
    expect(code).toBe(1);
    expect(stdout).toContain("1 event left: being handled. Run the command again when the handlers have ended.");
    release();
    await expect.poll(async () => (await app.receiver.inbox.get(event.id))?.state).toBe("done");
    expect((await erase(app, { cwd }, "--yes")).stdout).toContain("1 event erased");
  });

  test("inbox erase names a capture file that it cannot read, and ends with 1, also with --dry-run", async () => {
    const app = await startReceiverApp();
    const { cwd, files } = await captureAll([sent(EMAIL)]);
    const broken = join(cwd, ".pigeonhole", "captures", "broken.json");
    writeFileSync(broken, `{"to":"${EMAIL}"`);
    const line = `${broken} may mention the address. Not a capture: the file is not valid JSON. Look into it and delete it.`;
    const dry = await erase(app, { cwd }, "--dry-run");
    expect([dry.code, dry.stdout]).toEqual([1, expect.stringContaining(`1 capture would be deleted\n${line}\n`)]);
    const result = await erase(app, { cwd }, "--yes", "--json");
    expect([result.code, jsonLines(result)]).toEqual([
      1,
      [expect.objectContaining({ captures: 1, filesLeft: [{ file: broken, reason: expect.any(String) as string }] })],
    ]);
    expect(files()).toEqual([broken]);
  });
});

test("inbox erase says of all that is left why, and what to do", () => {
  const none = { events: 0, work: 0, eventsLeft: 0, contactEvents: 0, contactEventsLeft: 0, jobs: 0, jobsLeft: 0 };
  const left = { ...none, events: 2, eventsLeft: 1, contactEventsLeft: 1, jobs: 1, jobsLeft: 1, walLeft: "a.db-wal" };
  const text = describeErasure({ ...left, captures: 0, filesLeft: [] }, { dryRun: false, hasFolder: false });
  expect(text.split("\n")).toEqual([
    "2 events erased",
    "0 pieces of work ended without a run",
    "0 contact events erased",
    "1 text by which people chose work for jobs erased",
    "no captures were found in .pigeonhole",
    "1 event left: being handled. Run the command again when the handlers have ended.",
    "1 contact event left: in a call that may be repeated unchanged. Run the command again when it is settled, or discard its other events (outbox list --state dead).",
    "1 job left: open, and chooses work by a text. Run the command again when it has ended, or cancel it on the dashboard.",
    "a.db-wal keeps old versions of what was erased until the receiver is stopped. After a crash, start and stop it.",
  ]);
});
