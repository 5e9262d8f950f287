import type { HandlerContext } from "pigeonhole";
import { type Client, type ClientOptions, createClient } from "pigeonhole/client";
import { type FakeClock, fakeClock } from "pigeonhole/testing";
import { describe, expect, expectTypeOf, onTestFinished, test } from "vitest";
import { startContactEventService } from "../support/contact-event-service.js";
import { makeEvent, openReceiver, post, untilWork } from "../support/receiver.js";
import { errorOf } from "../support/error-of.js";

type Options = NonNullable<Parameters<typeof openReceiver>[0]>;

/** Runs a handler once on a receiver with these options. */
async function runOnce(options: Options, work: (ctx: HandlerContext) => unknown): Promise<void> {
  const receiver = openReceiver({ retry: { initialMs: 1 }, ...options });
  receiver.on("email.sent", (_event, ctx) => work(ctx));
  await receiver.start();
  const event = makeEvent();
  await post(receiver, event);
  await untilWork(receiver, event.id, { state: "done" });
}

async function openService() {
  const service = await startContactEventService();
  onTestFinished(() => service.close());
  return { service, api: { apiKey: "svc_test_ctx", baseUrl: service.baseUrl, eventsPerMinute: 600_000 } };
}

describe("ctx.api", () => {
  test("ctx.api has the options of the client given as api, and the type", async () => {
    expectTypeOf<HandlerContext["api"]>().toEqualTypeOf<Client>();
    const { service, api } = await openService();
    const event = { name: "order.shipped", email: "ada@example.com" };
    await runOnce({ api: createClient(api) }, async (ctx) => {
      await ctx.api.contactEvents.send(event, { idempotencyKey: ctx.idempotencyKey("shipped") });
    });
    expect(service.calls[0]?.authorization).toBe("Bearer svc_test_ctx");
  });

  test("ctx.api is the very client given as api where createClient has not made it", async () => {
    const { api } = await openService();
    const client = { ...createClient(api) };
    let given: Client | undefined;
    await runOnce({ api: client }, (ctx) => void (given = ctx.api));
    expect(given).toBe(client);
  });

  test("ctx.api is created from options, reaches the API at once, and may be destructured", async () => {
    const { service, api } = await openService();
    let storedInHandler = 0;
    await runOnce({ api }, async ({ api: client, idempotencyKey }) => {
      const event = { name: "order.shipped", email: "ada@example.com" };
      await client.contactEvents.send(event, { idempotencyKey: idempotencyKey("shipped") });
      storedInHandler = service.stored.length;
    });
    expect(storedInHandler).toBe(1);
    expect(service.calls[0]?.authorization).toBe("Bearer svc_test_ctx");
  });

  test("ctx.api has one effect in a handler that runs twice, with a key of the context", async () => {
    const { service, api } = await openService();
    await runOnce({ api }, async (ctx) => {
      const event = { name: "order.shipped", email: "ada@example.com" };
      await ctx.api.contactEvents.send(event, { idempotencyKey: ctx.idempotencyKey("shipped") });
      if (ctx.attempt === 1) throw new Error("after the call");
    });
    expect(service.calls).toHaveLength(2);
    expect(service.stored).toHaveLength(1);
  });

  test("ctx.api throws api_not_configured when it is read without the option api, not earlier", async () => {
    let thrown: (Error & { code?: string }) | undefined;
    await runOnce({}, async (ctx) => {
      expect(ctx.attempt).toBe(1);
      thrown = await errorOf(() => ctx.api);
    });
    expect(thrown).toMatchObject({ code: "api_not_configured" });
    expect(thrown?.message).toContain("{ apiKey, baseUrl }");
  });
});

describe("a 429 with Retry-After", () => {
  function busyApi(retryAfter: string) {
    const seen = { calls: 0 };
    const fetch = async () => {
      seen.calls += 1;
      return new Response("{}", { status: 429, headers: { "retry-after": retryAfter } });
    };
    return { seen, options: { apiKey: "svc_test_ctx", baseUrl: "http://127.0.0.1:9", fetch } };
  }

  async function untilCalls(seen: { calls: number }, calls: number, clock: FakeClock, stepMs: number): Promise<void> {
    const look = async (): Promise<number> => {
      await clock.advance(stepMs);
      return seen.calls;
    };
    await expect.poll(look).toBe(calls);
  }

  describe.each([
    ["options", (options: ClientOptions) => options],
    ["a client", createClient],
  ])("given %s as api", (_, apiOf) => {
    test.each(["6", "45", "60"])("of %s s ends the call at once, and the work waits without a run", async (seconds) => {
      const clock = fakeClock();
      const { seen, options } = busyApi(seconds);
      const receiver = openReceiver({ clock, api: apiOf({ ...options, clock }) });
      receiver.on("email.sent", (_event, ctx) => ctx.api.contacts.list());
      await receiver.start();
      const event = makeEvent();
      await post(receiver, event, { at: clock.now() });
      const dueAt = new Date(clock.now() + Number(seconds) * 1_000).toISOString();
      await untilWork(receiver, event.id, { state: "pending", maxAttempts: null, waitsFor: "retry_after", dueAt });
      expect(seen.calls).toBe(1);
    });

    test("of 5 s is waited for in the run", async () => {
      const clock = fakeClock();
      const { seen, options } = busyApi("5");
      const receiver = openReceiver({ clock, api: apiOf({ ...options, clock }) });
      let runs = 0;
      receiver.on("email.sent", (_event, ctx) => {
        runs += 1;
        return ctx.api.contacts.list();
      });
      await receiver.start();
      const event = makeEvent();
      await post(receiver, event, { at: clock.now() });
      await untilCalls(seen, 3, clock, 5_000);
      await untilWork(receiver, event.id, { state: "pending", maxAttempts: null, waitsFor: "retry_after" });
      expect(runs).toBe(1);
    });
  });

  test("of 60 s is waited for outside of a handler by the client of the option api", async () => {
    const clock = fakeClock();
    const { seen, options } = busyApi("60");
    const begunAt = clock.now();
    const client = createClient({ ...options, clock });
    const receiver = openReceiver({ clock, api: client });
    await receiver.start();
    const refused = errorOf(() => client.contacts.list());
    await untilCalls(seen, 3, clock, 30_000);
    expect(await refused).toMatchObject({ status: 429, retryAfterMs: 60_000 });
    expect(clock.now() - begunAt).toBeGreaterThanOrEqual(120_000);
  });
});
