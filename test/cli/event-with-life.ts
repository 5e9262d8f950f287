import { DoNotRetry, type Store } from "pigeonhole";
import type { PostgresStore } from "pigeonhole/postgres";
import { expect } from "vitest";
import { jsonLines, runCli } from "../support/run-cli.js";
import { openWithApi } from "./open-with-api.js";

/** Colours, and turns the direction of what follows. */
const HOSTILE = "\u001b[31m\u202e";
const ESCAPED = String.raw`\u001b[31m\u202e`;

/**
 * An event of which one handler has finished a step and recorded two contact events, one of which the API refuses, and
 * another handler has given up. The store is a new file unless another is given.
 */
export async function receiveWithLife(other?: Store | PostgresStore): Promise<{ file: string; eventId: string }> {
  const { receiver, receive } = openWithApi(other, { contacts: [{ email: "known@example.com" }] });
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
  const { file, eventId } = await receive();
  const statesOf = async (): Promise<string[]> =>
    (await receiver.contactEvents.list()).items.map(({ state }) => state).toSorted();
  await expect.poll(statesOf, { timeout: 5_000 }).toEqual(["dead", "done"]);
  await expect.poll(async () => (await receiver.inbox.get(eventId))?.state, { timeout: 5_000 }).toBe("dead");
  return { file, eventId };
}

/** `inbox show` has all of that life, as text and as JSON, in which nothing of the texts acts on a terminal. */
export async function expectLifeShown(place: string, eventId: string): Promise<void> {
  const show = ["inbox", "show", eventId, "--db", place];
  const { stdout } = await runCli(show);
  const text = stdout.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>");
  expect(text).toContain(
    "\ncontact events\n  greeted for unknown@example.com: ✗ dead (refused), 1 attempt, settled <time>\n",
  );
  expect(text).toMatch(/\n {4}key {5}\S+\n {4}answer {2}contact_not_found · .+\n/);
  expect(text).toMatch(/\n {2}greeted for known@example\.com: ✓ done, 1 attempt, stored as \S+, settled <time>\n/);
  const [, timeline = ""] = /\ntime line\n((?: {2}.*\n)+)/.exec(text) ?? [];
  expect(timeline).toContain(
    "  <time>  The service signed the delivery that was stored.\n  <time>  Received, verified",
  );
  for (const line of [
    `crm has finished the step look ${ESCAPED}up.`,
    `billing failed: DoNotRetry: no ${ESCAPED}account  run 1`,
    `billing gave up after 1 attempt (do_not_retry: DoNotRetry: no ${ESCAPED}account).`,
    "crm is done.",
  ]) {
    expect(timeline).toContain(`  <time>  ${line}\n`);
  }
  const [, refused = ""] = /\n {4}key {5}(\S{15})\S*\n {4}answer/.exec(text) ?? [];
  expect(timeline).toContain(`  <time>  Recorded the contact event greeted.  ${refused}…\n`);
  expect(timeline).toContain(`  <time>  The contact event greeted is dead (refused).  ${refused}…\n`);
  const json = await runCli([...show, "--json"]);
  for (const sign of ["\u001b", "\u202e"]) expect(stdout + json.stdout).not.toContain(sign);
  expectLifeInJson(jsonLines(json));
}

function expectLifeInJson(lines: unknown[]): void {
  const at = expect.stringMatching(/^\d{4}-[-T:.\d]+Z$/) as string;
  const name = `look ${HOSTILE}up`;
  const refusal = { state: "dead", reason: "refused", code: "contact_not_found", attempts: 1, settledAt: at };
  const key = expect.stringMatching(/./) as string;
  const entry = { handler: null, attempt: null, detail: null, key: null };
  expect(lines).toMatchObject([
    {
      schemaVersion: 1,
      event: {
        handlers: expect.arrayContaining([
          expect.objectContaining({ handler: "crm", steps: [{ name, at }] }),
        ]) as unknown,
        contactEvents: [
          { key, ...refusal, event: { name: "greeted", email: "unknown@example.com" } },
          { key, state: "done", remoteId: key, event: { email: "known@example.com" } },
        ],
        timeline: expect.arrayContaining([
          { ...entry, kind: "received", at, text: "Received, verified and stored; answered 200." },
          { ...entry, kind: "step_done", at, handler: "crm", text: `crm has finished the step ${name}.` },
          expect.objectContaining({ kind: "failed", at, handler: "billing", attempt: 1, detail: key }),
          { ...entry, kind: "contact_event_recorded", at, text: "Recorded the contact event greeted.", key },
          expect.objectContaining({ kind: "contact_event_settled", at, key, detail: key }),
        ]) as unknown,
      },
    },
  ]);
}
