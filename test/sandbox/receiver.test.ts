import { createServer } from "node:http";
import { createClient } from "pigeonhole/client";
import { EVENT_TYPES } from "pigeonhole/protocol";
import { createTestReceiver } from "pigeonhole/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { closeReceiver } from "../support/receiver.js";
import { openSandbox } from "./support.js";
import { listen } from "../support/listen.js";
import { createManualClock } from "#pigeonhole/base/manual-clock.js";

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

  test("a real receiver runs the handler once for a duplicate storm and a lost answer", async () => {
    const { sandbox, receiver } = await openLoop({ clock: createManualClock() });
    let runs = 0;
    receiver.on("email.bounced", () => void (runs += 1));
    await receiver.start();
    sandbox.faults.deliveries.add({ fault: { kind: "duplicate", copies: 9 }, attempt: 2 });
    sandbox.faults.deliveries.add({ fault: { kind: "lose_answer" }, attempt: 1 });
    const { event } = sandbox.emit("email.bounced");
    expect(await sandbox.waitFor({ type: "email.bounced", answered: "2xx" })).toMatchObject({ attempt: 2 });
    await sandbox.settle();
    await expect.poll(async () => (await receiver.inbox.get(event.id))?.state).toBe("done");
    expect(runs).toBe(1);
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

  test("a real receiver loses nothing in a rotation, since what it cannot verify is sent again", async () => {
    const clock = createManualClock();
    const { sandbox, receiver, endpoint, useSecret } = await openLoop({ clock });
    await receiver.start();
    const { secret } = sandbox.endpoints.rotateSecret(endpoint.id);
    const { event } = sandbox.emit("email.sent");
    await sandbox.settle();
    expect(sandbox.deliveries()).toMatchObject([{ responseCode: 503, nextAttemptAt: expect.any(String) }]);
    useSecret(secret);
    await sandbox.advance("2m");
    expect(sandbox.deliveries()).toMatchObject([{ responseCode: 503 }, { status: "delivered", attempt: 2 }]);
    expect(await receiver.inbox.get(event.id)).toMatchObject({ id: event.id });
  });

  test("a real receiver answers 200 to test deliveries and does not run its handlers for them", async () => {
    const { sandbox, receiver, endpoint } = await openLoop();
    let runs = 0;
    receiver.on("email.sent", () => void (runs += 1));
    await receiver.start();
    expect(await sandbox.endpoints.test(endpoint.id)).toMatchObject({ status: "delivered", responseCode: 200 });
    expect(runs).toBe(0);
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
