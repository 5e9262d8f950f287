import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { apiOf, openService } from "../outbox/outbox-harness.js";
import { describeOnPostgres } from "../support/postgres-server.js";
import { makeEvent, post } from "../support/receiver.js";
import { createNode, dropAfterTest } from "./shared-nodes.js";

/** Two a second. */
const PER_MINUTE = 120;
/** More than what the processes would send at once without the limit they share. */
const SENT = 16;

describeOnPostgres((database) => {
  test("three processes that all record contact events send them within one rate limit", async () => {
    dropAfterTest(database);
    const service = await openService();
    const api = { ...apiOf(service), eventsPerMinute: PER_MINUTE };
    const nodes = [1, 2, 3].map(() => {
      const node = createNode(database, { api });
      node.on("email.sent", ({ id }, ctx) => {
        ctx.contactEvents.record({ name: "seen", email: "ada@example.com", properties: { of: id } });
      });
      return node;
    });
    for (const node of nodes) await node.start();
    // Each has saved up some calls: one process 6, and it earns two a second; two more may be under way.
    await sleep(3_000);
    const begunAt = performance.now();
    const isAllowed = (): boolean => service.stored.length <= 6 + (2 * (performance.now() - begunAt)) / 1_000 + 2;
    let recorded = 0;
    while (service.stored.length < SENT) {
      for (const node of nodes) await post(node, makeEvent());
      recorded += nodes.length;
      await sleep(200);
      expect(isAllowed()).toBe(true);
    }
    expect(recorded).toBeGreaterThan(SENT);
  });
});
