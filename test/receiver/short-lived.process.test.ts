import { type Store, createReceiver, createSqliteStore } from "pigeonhole";
import { TEST_SECRET } from "pigeonhole/testing";
import { expect, test } from "vitest";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { createPostgresStore } from "#pigeonhole/store/postgres/postgres-store.js";
import { apiOf, openService } from "../outbox/outbox-harness.js";
import type { ContactEventService } from "../support/contact-event-service.js";
import { describeOnPostgres } from "../support/postgres-server.js";
import { makeEvent, post, tempFile } from "../support/receiver.js";

/** Every call on a host without lasting processes: a receiver of its own, from its start to its stop. */
function createHost(createStore: () => Store<unknown>, service: ContactEventService) {
  const ran: string[] = [];
  async function withReceiver<Value>(use: (receiver: ReturnType<typeof createReceiver>) => Promise<Value>) {
    const receiver = createReceiver({
      secrets: TEST_SECRET,
      store: createStore() as Store,
      role: "accept",
      logger: silentLogger,
      telemetry: false,
      retry: { initialMs: 1, maxMs: 1, jitter: 0 },
      api: apiOf(service),
    });
    receiver.on("email.sent", ({ id }, ctx) => {
      // Every third event fails once.
      if (ctx.attempt === 1 && Number(id.split("_")[1]) % 3 === 0) throw new Error("not yet");
      ctx.contactEvents.record({ name: "seen", email: "ada@example.com", properties: { of: id } });
      ran.push(id);
    });
    await receiver.start();
    try {
      return await use(receiver);
    } finally {
      await receiver.stop();
    }
  }
  return {
    ran,
    deliver: (event: object) => withReceiver(async (receiver) => (await post(receiver, event)).status),
    drain: () => withReceiver((receiver) => receiver.drain({ timeoutMs: 2_000 })),
    count: () => withReceiver((receiver) => receiver.stats()),
  };
}

/** Delivers everything, each event twice, three requests at a time, while a scheduler drains once a second. */
async function workThrough(total: number, createStore: () => Store<unknown>): Promise<void> {
  const service = await openService();
  const host = createHost(createStore, service);
  const events = Array.from({ length: total }, () => makeEvent());
  const requests = events.flatMap((event) => [event, event]);
  let isDelivering = true;
  const scheduler = (async () => {
    for (let isLast = false; !isLast;) {
      isLast = !isDelivering;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await host.drain();
    }
  })();
  const statuses: number[] = [];
  const sendNext = async (): Promise<void> => {
    for (let event = requests.shift(); event !== undefined; event = requests.shift()) {
      statuses.push(await host.deliver(event));
    }
  };
  await Promise.all([sendNext(), sendNext(), sendNext()]);
  isDelivering = false;
  await scheduler;
  await host.drain();
  expect(statuses).toEqual(Array.from({ length: 2 * total }, () => 200));
  expect(await host.count()).toMatchObject({ done: total, pending: 0, running: 0, dead: 0, parked: 0 });
  const ids = events.map(({ id }) => id).toSorted();
  expect(host.ran.toSorted()).toEqual(ids);
  expect(service.stored.map(({ event }) => String(event.properties?.["of"])).toSorted()).toEqual(ids);
}

test("receivers that live for one request each, and a drain every second, lose and repeat nothing", async () => {
  const file = tempFile();
  await workThrough(20, () => createSqliteStore({ file }));
});

describeOnPostgres((database) => {
  test("receivers that live for one request each, and a drain every second, lose and repeat nothing", async () => {
    await workThrough(50, () => createPostgresStore({ connectionString: database.url, schema: database.schema }));
  });
});
