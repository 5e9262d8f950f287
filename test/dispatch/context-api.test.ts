import type { HandlerContext } from "pigeonhole";
import { type Client, createClient } from "pigeonhole/client";
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
  test("ctx.api is the client of the option api, and has its type", async () => {
    expectTypeOf<HandlerContext["api"]>().toEqualTypeOf<Client>();
    const { api } = await openService();
    const client = createClient(api);
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
