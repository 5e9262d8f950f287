import { expect, onTestFinished, test } from "vitest";
import { createClient } from "pigeonhole/client";
import { createSandbox } from "pigeonhole/sandbox";
import { refusalOf } from "../support/error-of.js";

const MINUTE = 60_000;

/** A sandbox whose receiver has the machine's time, a day ahead of it. */
async function openAhead() {
  const sandbox = createSandbox({ clock: "advanceable" });
  onTestFinished(() => sandbox.close());
  await sandbox.advance("1d");
  const { baseUrl, fetch } = sandbox;
  return { sandbox, clientOf: (apiKey: string) => createClient({ apiKey, baseUrl, fetch }) };
}

test("what the API makes and what an event brings have one time, also where the receiver has another", async () => {
  const { sandbox, clientOf } = await openAhead();
  const { files } = clientOf(sandbox.apiKey);
  const since = new Date(sandbox.clock.now() - MINUTE).toISOString();
  await files.upload(Buffer.from("text"), { filename: "note.txt" });
  const { items } = await files.list({ since });
  expect(items.map(({ filename }) => filename)).toEqual(["note.txt"]);
});

test("a key expires on the sandbox's clock, also where the receiver has another", async () => {
  const { sandbox, clientOf } = await openAhead();
  const client = clientOf(sandbox.callers.key({ expiresInMinutes: 5 }));
  await expect(client.labels.list()).resolves.toBeDefined();
  await sandbox.advance("6m");
  await expect(client.labels.list()).rejects.toMatchObject({ status: 401 });
});

test("the limit of sign-ups ends on the sandbox's clock, also where the receiver has another", async () => {
  const { sandbox, clientOf } = await openAhead();
  const { forms } = clientOf(sandbox.apiKey);
  const refusal = () => refusalOf(() => forms.subscribe("frm_missing", { email: "a@example.com" }));
  for (let index = 0; index < 44; index += 1) await refusal();
  expect(await refusal()).toMatchObject({ code: "form_rate_limited" });
  await sandbox.advance("11m");
  expect(await refusal()).toMatchObject({ code: "form_not_found" });
});
