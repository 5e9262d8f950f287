import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startContactEventService } from "../support/contact-event-service.js";
import { describeOnPostgres } from "../support/postgres-server.js";
import { makeEvent, post } from "../support/receiver.js";
import { createNode, dropAfterTest } from "./shared-nodes.js";

/** Two a second. */
const PER_MINUTE = 120;

describeOnPostgres((database) => {
  test("three processes that all record contact events send them within one rate limit", async () => {
    dropAfterTest(database);
    const service = await startContactEventService();
    onTestFinished(() => service.close());
    const nodes = [1, 2, 3].map(() => {
      const node = createNode(database, { baseUrl: service.baseUrl, eventsPerMinute: PER_MINUTE });
      node.on("email.sent", ({ id }, ctx) => {
        ctx.contactEvents.record({ name: "seen", email: "ada@example.com", properties: { of: id } });
      });
      return node;
    });
    for (const node of nodes) await node.start();
    // Each has saved up some calls.
    await sleep(3_000);
    const begunAt = performance.now();
    const seconds = (): number => (performance.now() - begunAt) / 1_000;
    let recorded = 0;
    for (; seconds() < 5; await sleep(500)) {
      for (const node of nodes) await post(node, makeEvent());
      recorded += nodes.length;
    }
    // One process has saved up 6, and earns two a second.
    const allowed = 6 + 2 * seconds() + 2;
    expect(service.stored.length).toBeLessThanOrEqual(allowed);
    expect(service.stored.length).toBeGreaterThan(allowed / 3);
    expect(recorded).toBeGreaterThan(allowed);
  });
});
