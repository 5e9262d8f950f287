import { createServer } from "node:http";
import { createClient } from "pigeonhole/client";
import { EVENT_TYPES } from "pigeonhole/protocol";
import { createTestReceiver } from "pigeonhole/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { closeReceiver } from "../support/receiver.js";
import { openSandbox } from "./support.js";
import { listen } from "../support/listen.js";

/** A real receiver over real HTTP, subscribed to everything, in front of a sandbox on the machine's clock. */
async function openLoop(options: Parameters<typeof openSandbox>[0] = {}) {
  const sandbox = openSandbox({ clock: "real", ...options });
  let secret = `whsec_${"a".repeat(43)}`;
  const receiver = createTestReceiver({
    secrets: () => [secret],
    telemetry: false,
    clock: sandbox.clock,
    api: createClient(sandbox.clientOptions),
  });
  const server = createServer(receiver.middleware());
  const port = await listen(server);
  onTestFinished(async () => {
    await closeReceiver(receiver, sandbox.clock);
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${port}/`;
  const endpoint = sandbox.endpoints.create({ url, eventTypes: [...EVENT_TYPES] }, { secret });
  const useSecret = (next: string): void => void (secret = next);
  return { sandbox, receiver, endpoint, useSecret };
}

describe("a real receiver", () => {
  test("a real receiver answers 200 to every event type of the sandbox", async () => {
    const { sandbox, receiver } = await openLoop();
    const seen = new Set<string>();
    receiver.on("*", (event) => void seen.add(event.type));
    await receiver.start();
    for (const type of EVENT_TYPES) sandbox.emit(type);
    await sandbox.settle();
    expect(new Set(sandbox.deliveries().map(({ responseCode }) => responseCode))).toEqual(new Set([200]));
    await expect.poll(() => seen.size).toBe(EVENT_TYPES.length);
  });

  test("a real receiver sends a contact event back, and the sandbox stores it", async () => {
    const { sandbox, receiver } = await openLoop();
    receiver.on("email.bounced", (event, ctx) => {
      ctx.contactEvents.record({ name: "mail.bounced", email: String(event.data["recipient"]) });
    });
    await receiver.start();
    const { event } = sandbox.emit("email.bounced");
    const stored = await sandbox.waitForContactEvent({ name: "mail.bounced" });
    expect(stored).toMatchObject({ email: event.data["recipient"], mode: "live" });
    expect(sandbox.contactEvents).toEqual([stored]);
  });

  test("a real receiver can be reached without a socket", async () => {
    const receiver = createTestReceiver({ secrets: `whsec_${"b".repeat(43)}`, telemetry: false });
    onTestFinished(() => receiver.stop({ timeoutMs: 0 }));
    await receiver.start();
    const sandbox = openSandbox({ clock: "real", receive: (request) => receiver.fetch(request) });
    sandbox.endpoints.create({ url: "http://receiver.test/" }, { secret: `whsec_${"b".repeat(43)}` });
    const { event } = sandbox.emit("email.sent");
    await sandbox.settle();
    expect(await receiver.inbox.get(event.id)).toMatchObject({ id: event.id, type: "email.sent" });
  });
});
