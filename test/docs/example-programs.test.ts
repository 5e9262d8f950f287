import { join } from "node:path";
import Database from "better-sqlite3";
import type { EventType } from "pigeonhole/protocol";
import { TEST_SECRET, sampleEvent } from "pigeonhole/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeExampleFolder } from "./example-folder.js";
import { postSigned, runProgram, startListening } from "./run-example.js";

// The programs under examples/, as they stand there: as processes where they listen, with signed deliveries posted to
// them.

async function startExample(name: "existing-app" | "express-minimal" | "own-tables") {
  const folder = makeExampleFolder();
  const store = join(folder, "inbox.db");
  return { store, ...(await startListening(folder, `examples/${name}`, { DATABASE_FILE: store })) };
}

const sample = (type: EventType) => sampleEvent(type, {}, { seed: "example" });

describe("examples/existing-app.ts", () => {
  test("an existing app accepts a delivery once, runs its handler, refuses a wrong signature, and ends cleanly", async () => {
    const example = await startExample("existing-app");
    const url = `${example.url}/webhooks/mail`;
    expect(await postSigned(url, sample("suppression.added"))).toEqual([200, "accepted"]);
    expect(await postSigned(url, sample("suppression.added"))).toEqual([200, "duplicate"]);
    expect(await postSigned(url, sample("suppression.added"), TEST_SECRET.replace("p", "q"))).toEqual([
      503,
      "unverified",
    ]);
    await expect.poll(example.output).toMatch(/"handler":"[^"]+","attempt":1/);
    expect(example.output().match(/"attempt":1/g)).toHaveLength(1);
    expect(await example.stop()).toBe(0);
  });

  test("an existing app keeps its own routes: parsed bodies, the login check and the error handler", async () => {
    const { url, stop } = await startExample("existing-app");
    const headers = { "content-type": "application/json", authorization: "Bearer letmein" };
    const order = await fetch(`${url}/orders`, { method: "POST", headers, body: '{"paid":true}' });
    expect([order.status, await order.json()]).toEqual([201, { id: 1, paid: true }]);
    expect((await fetch(`${url}/orders`, { method: "POST", headers, body: "{" })).status).toBe(400);
    expect((await fetch(`${url}/inbox`)).status).toBe(401);
    expect(await (await fetch(`${url}/inbox`, { headers })).json()).toMatchObject({ state: "running" });
    expect(await stop()).toBe(0);
  });
});

test("examples/own-tables.ts migrates its tables, writes through Drizzle, and shows the rows to the team alone", async () => {
  const { url, stop } = await startExample("own-tables");
  const bounce = sampleEvent("email.bounced", { recipient: "ann@example.com" }, { seed: "example" });
  expect(await postSigned(`${url}/webhooks/mail`, bounce)).toEqual([200, "accepted"]);
  expect((await fetch(`${url}/admin/bounces`)).status).toBe(401);
  const read = async (): Promise<unknown> =>
    (await fetch(`${url}/admin/bounces`, { headers: { authorization: "Bearer letmein" } })).json();
  await expect.poll(read).toMatchObject({ bounces: 1, latest: [{ address: "ann@example.com" }], inbox: { dead: 0 } });
  expect(await stop()).toBe(0);
});

test("examples/express-minimal.ts writes what its schema reads of the data, once", async () => {
  const { url, store, stop } = await startExample("express-minimal");
  expect(await postSigned(`${url}/webhooks/mail`, sample("email.bounced"))).toEqual([200, "accepted"]);
  expect(await postSigned(`${url}/webhooks/mail`, sample("email.bounced"))).toEqual([200, "duplicate"]);
  const other = TEST_SECRET.replace("p", "q");
  expect(await postSigned(`${url}/webhooks/mail`, sample("email.bounced"), other)).toEqual([503, "unverified"]);
  expect(await stop()).toBe(0);
  const db = new Database(store, { readonly: true });
  onTestFinished(() => void db.close());
  const { recipient } = sample("email.bounced").data as { recipient: string };
  expect(db.prepare("SELECT address FROM bounced").pluck().all()).toEqual([recipient]);
});

test("examples/exactly-once has one row and one contact event for each bounce, whatever SIGKILL interrupted", async () => {
  const { ended, output } = runProgram(makeExampleFolder(), "examples/exactly-once/watch");
  expect(await ended, output()).toBe(0);
  const [, attempts] = /^24 bounces, (\d+) attempts to deliver them, 3 kills$/m.exec(output()) ?? [];
  // The receiver was away while some were sent, so that the service had to send them again.
  expect(Number(attempts)).toBeGreaterThan(24);
  expect(output()).toContain('24 rows in the table "bounce", of 24 different bounces');
  expect(output()).toContain("24 contact events at the service, of 24 different bounces");
}, 120_000);
