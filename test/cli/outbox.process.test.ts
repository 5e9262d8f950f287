import { join } from "node:path";
import { createReceiver } from "pigeonhole";
import { describe, expect, test } from "vitest";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { createSandbox } from "#pigeonhole/sandbox/create-sandbox.js";
import { closeAfterTest, startReceiverApp } from "./app.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { makeFolder } from "../support/folder.js";

/** A receiver that has recorded one contact event the service takes, and one it refuses. */
async function startOutbox() {
  const file = join(makeFolder(), "inbox.db");
  const sandbox = createSandbox({ contacts: [{ email: "known@example.com" }] });
  const receiver = createReceiver({
    secrets: SECRET,
    store: file,
    api: sandbox.clientOptions,
    logger: silentLogger,
    telemetry: false,
  });
  await receiver.start();
  closeAfterTest(async () => {
    await receiver.stop();
    await sandbox.close();
  });
  await receiver.contactEvents.record({ name: "greeted", email: "known@example.com" });
  const { key } = await receiver.contactEvents.record({ name: "greeted", email: "unknown@example.com" });
  await expect.poll(async () => (await receiver.contactEvents.list({ state: "dead" })).items.length).toBe(1);
  await expect.poll(async () => (await receiver.contactEvents.list({ state: "done" })).items.length).toBe(1);
  return { file, sandbox, receiver, key };
}

test("outbox list says that the outbox is empty", async () => {
  const app = await startReceiverApp();
  const list = (...args: string[]) => runCli(["outbox", "list", "--db", app.file, ...args]);
  expect(await list()).toMatchObject({ code: 0, stdout: "", stderr: "No contact events.\n" });
  expect(await list("--state", "dead")).toMatchObject({ code: 0, stderr: "No such contact events.\n" });
});

describe("outbox, beside a running receiver", () => {
  test("outbox list and outbox show print what the service refused and why, and outbox stats prints the counts", async () => {
    const { file, key } = await startOutbox();
    const db = ["--db", file];
    const dead = jsonLines(await runCli(["outbox", "list", "--state", "dead", "--json", ...db]));
    expect(dead).toMatchObject([
      { schemaVersion: 1, contactEvent: { key, state: "dead", reason: "refused", code: "contact_not_found" } },
    ]);
    expect((await runCli(["outbox", "list", ...db])).stdout).toMatch(/dead +greeted .*refused contact_not_found/);
    const { stdout } = await runCli(["outbox", "show", key, ...db]);
    expect(stdout).toContain("code      contact_not_found");
    expect(stdout).toContain('"email": "unknown@example.com"');
    expect(jsonLines(await runCli(["outbox", "stats", "--json", ...db]))).toMatchObject([
      { contactEvents: { pending: 0, leased: 0, dead: 1 } },
    ]);
  });

  test("outbox retry sends a dead event again after its cause was removed", async () => {
    const { file, sandbox, receiver, key } = await startOutbox();
    sandbox.contacts.addContact({ email: "unknown@example.com" });
    expect(await runCli(["outbox", "retry", key, "--db", file])).toMatchObject({ code: 0 });
    // The receiver looks with the next contact event.
    await receiver.contactEvents.record({ name: "greeted.again", email: "known@example.com" });
    await expect.poll(() => sandbox.contactEvents.length).toBe(3);
    const again = await runCli(["outbox", "retry", key, "--db", file]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("that is dead")]);
  });

  test("outbox discard asks for --yes without a terminal, and then discards the event", async () => {
    const { file, receiver, key } = await startOutbox();
    expect(await runCli(["outbox", "discard", key, "--db", file])).toMatchObject({ code: 2 });
    expect(await runCli(["outbox", "discard", key, "--db", file, "--yes"])).toMatchObject({ code: 0 });
    expect((await receiver.contactEvents.list({ state: "dead" })).items).toEqual([]);
  });
});
