import { join } from "node:path";
import { createReceiver, DoNotRetry } from "pigeonhole";
import { createSandbox } from "pigeonhole/sandbox";
import { deliver, sampleEvent } from "pigeonhole/testing";
import { expect } from "vitest";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { makeFolder } from "../support/folder.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { closeAfterTest } from "./app.js";

/** Colours, and turns the direction of what follows. */
const HOSTILE = "\u001b[31m\u202e";
const ESCAPED = String.raw`\u001b[31m\u202e`;

/**
 * An event of which one handler has finished a step and recorded two contact events, one of which the API refuses, and
 * another handler has given up.
 */
export async function receiveWithLife(): Promise<{ file: string; eventId: string }> {
  const file = join(makeFolder(), "inbox.db");
  const sandbox = createSandbox({ contacts: [{ email: "known@example.com" }] });
  const plain = { secrets: SECRET, store: file, logger: silentLogger, telemetry: false };
  const receiver = createReceiver({ ...plain, api: sandbox.clientOptions });
  receiver.on(
    "email.sent",
    async (_event, ctx) => {
      await ctx.step(`look ${HOSTILE}up`, () => 1);
      ctx.contactEvents.record({ name: "greeted", email: "known@example.com" });
      ctx.contactEvents.record({ name: "greeted", email: "unknown@example.com" });
    },
    { name: "crm" },
  );
  const fail = (): never => {
    throw new DoNotRetry(`no ${HOSTILE}account`);
  };
  receiver.on("email.sent", fail, { name: "billing" });
  await receiver.start();
  closeAfterTest(async () => {
    await receiver.stop();
    await sandbox.close();
  });
  const event = sampleEvent("email.sent");
  const eventId = event.id;
  await deliver(receiver, event, { secret: SECRET });
  const statesOf = async (): Promise<string[]> =>
    (await receiver.contactEvents.list()).items.map(({ state }) => state).toSorted();
  await expect.poll(statesOf, { timeout: 5_000 }).toEqual(["dead", "done"]);
  await expect.poll(async () => (await receiver.inbox.get(eventId))?.state, { timeout: 5_000 }).toBe("dead");
  return { file, eventId };
}

/** `inbox show` has all of that life, as text and as JSON, in which nothing of the texts acts on a terminal. */
export async function expectLifeShown(place: string, eventId: string): Promise<void> {
  const show = ["inbox", "show", eventId, "--db", place];
  const [{ stdout }, json] = [await runCli(show), await runCli([...show, "--json"])];
  const text = stdout.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>");
  for (const part of [
    "\ncontact events\n  greeted for unknown@example.com: ✗ dead (refused), 1 attempt, settled <time>\n",
    "\n  greeted for known@example.com: ✓ done, 1 attempt, stored as ",
    "\ntime line\n  <time>  The service signed the delivery that was stored.\n  <time>  Received, verified",
    `  <time>  crm has finished the step look ${ESCAPED}up.\n`,
    `  <time>  billing failed: DoNotRetry: no ${ESCAPED}account  run 1\n`,
  ]) {
    expect(text).toContain(part);
  }
  for (const sign of ["\u001b", "\u202e"]) expect(stdout + json.stdout).not.toContain(sign);
  const at = expect.stringMatching(/^\d{4}-[-T:.\d]+Z$/) as string;
  const step = { handler: "crm", text: `crm has finished the step look ${HOSTILE}up.` };
  const entries = expect.arrayContaining([expect.objectContaining({ kind: "step_done", at, ...step })]) as unknown;
  const refused = { state: "dead", code: "contact_not_found", settledAt: at, contact: "unknown@example.com" };
  expect(jsonLines(json)).toMatchObject([
    { schemaVersion: 1, event: { contactEvents: [refused, { state: "done" }], timeline: entries } },
  ]);
}
