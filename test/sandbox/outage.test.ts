import { createReceiver } from "pigeonhole";
import { createSandbox } from "pigeonhole/sandbox";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

// docs/sandbox.md shows this very test.

test("an outage of seventeen hours loses nothing", async () => {
  const sandbox = createSandbox({
    clock: "manual",
    receiverTime: "machine",
    receive: (request) => receiver.fetch(request),
  });
  const { id, secret } = sandbox.endpoints.create({ url: "http://127.0.0.1/webhooks/mail" });
  const receiver = createReceiver({ secrets: secret, store: ":memory:", api: sandbox.clientOptions });
  receiver.on("email.bounced", (event, ctx) => {
    ctx.contactEvents.record({
      name: "address.bounced",
      email: "ada@customer.example.com",
      properties: { id: event.id },
    });
  });
  await receiver.start();

  sandbox.faults.deliveries.add({ fault: { kind: "status", status: 503 }, times: 6 }); // a proxy answers in its place
  const { event } = sandbox.emit("email.bounced");
  const { attempt } = await sandbox.waitFor({ eventId: event.id, answered: "2xx" });
  expect([attempt, sandbox.endpoints.get(id).consecutiveFailures]).toEqual([7, 0]);
  await sandbox.waitForContactEvent({ name: "address.bounced" });

  await receiver.stop();
  await sandbox.close();
});

test("docs/sandbox.md shows the test of this file", () => {
  const [, body = ""] = /(test\("an outage[\s\S]*?\n}\);\n)/.exec(readFileSync(import.meta.filename, "utf8")) ?? [];
  const plain = (text: string): string => text.replaceAll(/\s+/g, " ");
  expect(body).not.toBe("");
  expect(plain(readFileSync("docs/sandbox.md", "utf8"))).toContain(plain(body));
});
