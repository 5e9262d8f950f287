import Database from "better-sqlite3";
import { type ReceiverOptions, createReceiver } from "pigeonhole";
import { describe, expect, onTestFinished, test } from "vitest";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { createSandbox } from "#pigeonhole/sandbox/create-sandbox.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { startContactEventService } from "../support/contact-event-service.js";
import { tempFile } from "../support/receiver.js";
import { measureSlowness } from "../support/slowness.js";

/** A receiver in this process with this access to the API, and its file. */
async function openSender(api: ReceiverOptions["api"]) {
  const file = tempFile();
  const plain = { secrets: SECRET, logger: silentLogger, telemetry: false };
  const receiver = createReceiver({ ...plain, store: file, api });
  await receiver.start();
  onTestFinished(() => receiver.stop({ timeoutMs: 0 }));
  const outbox = (...args: string[]) => runCli(["outbox", ...args, "--db", file]);
  return { file, receiver, outbox };
}

/** A receiver that has recorded one contact event the service takes, and one it refuses. */
async function startOutbox() {
  const sandbox = createSandbox({ contacts: [{ email: "known@example.com" }] });
  onTestFinished(() => sandbox.close());
  const sender = await openSender(sandbox.clientOptions);
  const { contactEvents } = sender.receiver;
  await contactEvents.record({ name: "greeted", email: "known@example.com" });
  const { key } = await contactEvents.record({ name: "greeted", email: "unknown@example.com" });
  const statesOf = async () => (await contactEvents.list()).items.map(({ state }) => state).toSorted();
  await expect.poll(statesOf).toEqual(["dead", "done"]);
  return { ...sender, sandbox, key };
}

test("outbox list says that the outbox is empty", async () => {
  const { outbox } = await openSender(undefined);
  expect(await outbox("list")).toMatchObject({ code: 0, stdout: "", stderr: "No contact events.\n" });
  expect(await outbox("list", "--state", "dead")).toMatchObject({ code: 0, stderr: "No such contact events.\n" });
});

describe("outbox, beside a running receiver", () => {
  test("outbox list and outbox show print what the service refused and why", async () => {
    const { outbox, key } = await startOutbox();
    const dead = jsonLines(await outbox("list", "--state", "dead", "--json"));
    expect(dead).toMatchObject([
      { schemaVersion: 1, contactEvent: { key, state: "dead", reason: "refused", code: "contact_not_found" } },
    ]);
    expect((await outbox("list")).stdout).toMatch(/dead +greeted .*refused contact_not_found/);
    const { stdout } = await outbox("show", key);
    expect(stdout).toMatch(/✗ dead \(refused\), 1 attempt, settled /);
    expect(stdout).toMatch(/^ {2}answer {2}contact_not_found · /m);
    expect(stdout).toContain('"email": "unknown@example.com"');
  });

  test("outbox retry sends a dead event again after its cause was removed", async () => {
    const { outbox, sandbox, receiver, key } = await startOutbox();
    sandbox.contacts.addContact({ email: "unknown@example.com" });
    expect(await outbox("retry", key)).toMatchObject({ code: 0 });
    // The receiver looks with the next contact event.
    await receiver.contactEvents.record({ name: "greeted.again", email: "known@example.com" });
    await expect.poll(() => sandbox.contactEvents.length).toBe(3);
    const again = await outbox("retry", key);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("that is dead")]);
  });

  test("outbox retry and discard of an event whose call may have arrived say what goes out with it", async () => {
    const { file, outbox, receiver } = await startOutbox();
    const keys = (await receiver.contactEvents.list()).items.map(({ key }) => key);
    await receiver.stop();
    const db = new Database(file);
    db.exec(`INSERT INTO outbox_send (send, key, kind, state, started) VALUES (99, 'k', 'batch', 'dead', 2);
      UPDATE outbox_event SET state = 'dead', reason = 'refused', send = 99, position = seq, remote_id = NULL, settled_at = 1`);
    db.close();
    const [one = "", two = ""] = keys;
    expect((await outbox("show", one)).stdout).toContain("with 2 events");
    const discarded = await outbox("discard", one, "--yes");
    expect(discarded.stdout).toContain("goes out again if another of the 2 events of its call is retried");
    const retried = await outbox("retry", two);
    expect(retried.stdout).toContain("will be sent again with 1 more of its call, which may have arrived");
  });

  test("outbox retry takes filters instead of keys, and prints the total", async () => {
    const { outbox, receiver } = await startOutbox();
    const retry = (...args: string[]) => outbox("retry", "--error", "contact_not_found", ...args);
    expect(await retry("--name", "left")).toMatchObject({ code: 0, stdout: "No such contact event is dead.\n" });
    const settledTimes = async () =>
      (await receiver.contactEvents.list({ state: "dead" })).items.map(({ settledAt }) => settledAt);
    const [before] = await settledTimes();
    const { stdout } = await retry("--name", "greeted", "--since", "1h");
    expect(stdout).toBe("1 contact event will be sent again by the running receiver, within 2 s\n");
    // The receiver may have sent it already, which the service refuses again.
    expect(await settledTimes()).not.toContain(before);
  });

  test("outbox discard takes filters instead of keys, asks, and prints the total", async () => {
    const { outbox, receiver } = await startOutbox();
    const discard = (...args: string[]) => outbox("discard", "--state", "dead", ...args);
    expect(await discard()).toMatchObject({ code: 2 });
    expect(await discard("--yes")).toMatchObject({ code: 0, stdout: "1 contact event discarded\n" });
    expect((await outbox("list")).stdout).toMatch(/\n\S+ +discarded /);
    expect((await receiver.contactEvents.list({ state: "dead" })).items).toEqual([]);
  });
});

test("a call that fails is shown with its error and next try, and outbox retry has it tried now, once and with its key", async () => {
  const service = await startContactEventService();
  onTestFinished(() => service.close());
  let fault: { status: number; retryAfter: string } | undefined = { status: 503, retryAfter: "600" };
  service.faultOf = () => fault;
  const { outbox, receiver } = await openSender({ apiKey: "key", baseUrl: service.baseUrl, maxRetries: 0 });
  await receiver.contactEvents.record({ name: "greeted", email: "ann@example.com" });
  const list = async () => jsonLines(await outbox("list", "--json"));
  const event = { state: "retrying", dueAt: expect.any(String) as string, attempts: 1 };
  await expect
    .poll(list)
    .toEqual([expect.objectContaining({ contactEvent: expect.objectContaining(event) as unknown })]);
  const [line] = (await list()) as [{ contactEvent: { key: string } }];
  const { key } = line.contactEvent;
  const table = (await outbox("list", "--error", "HTTP 503")).stdout;
  expect(table).toMatch(/NAME +KEY +ATTEMPTS +NEXT TRY +WHY\n\S+ +retrying +greeted +key_\S+ +1 +\d\S+ +.*HTTP 503/);
  const shown = (await outbox("show", key)).stdout;
  expect(shown).toMatch(/, 1 attempt, next try [^]*^ {2}error {3}.*HTTP 503/m);
  fault = undefined;
  const { stdout } = await outbox("retry", key);
  const retriedAt = performance.now();
  expect(stdout).toContain("will be sent again by the running receiver, within 2 s");
  await expect.poll(() => service.stored.length, { interval: 20 }).toBe(1);
  // The wait was 600 s, and another process was looked at every 10 s.
  expect(performance.now() - retriedAt).toBeLessThan(5_000 * measureSlowness());
  expect(new Set(service.calls.map(({ key }) => key)).size).toBe(1);
  expect(await outbox("retry", key)).toMatchObject({ code: 1 });
});

test("outbox list says now for a contact event that waits for a receiver after a retry", async () => {
  const { outbox, receiver, key } = await startOutbox();
  await receiver.stop();
  expect((await outbox("retry", key)).code).toBe(0);
  const { stdout } = await outbox("list");
  expect(stdout).toMatch(new RegExp(` ${key} +\\d+ +now\\b`));
  const both = await outbox("retry", key, "--state", "dead");
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("Give either keys")]);
});
