import type { HandlerContext } from "pigeonhole";
import { type Client, type ClientOptions, createClient } from "pigeonhole/client";
import { fakeClock } from "pigeonhole/testing";
import { describe, expect, expectTypeOf, onTestFinished, test } from "vitest";
import { startContactEventService } from "../support/contact-event-service.js";
import { openReceiver, untilWork, workOf } from "../support/receiver.js";
import { errorOf } from "../support/error-of.js";
import { startReceiver, postEvent } from "../support/start-receiver.js";

type Options = NonNullable<Parameters<typeof openReceiver>[0]>;

/** Runs a handler once on a receiver with these options. */
async function runOnce(options: Options, work: (ctx: HandlerContext) => unknown): Promise<void> {
  const receiver = await startReceiver(
    { retry: { initialMs: 1 }, ...options },
    { "email.sent": (_event, ctx) => work(ctx) },
  );
  const event = await postEvent(receiver);
  await untilWork(receiver, event.id, { state: "done" });
}

async function openService() {
  const service = await startContactEventService();
  onTestFinished(() => service.close());
  return { service, api: { apiKey: "svc_test_ctx", baseUrl: service.baseUrl, eventsPerMinute: 600_000 } };
}

describe("ctx.api", () => {
  test.each<[string, (options: ClientOptions) => NonNullable<Options["api"]>]>([
    ["options", (options) => options],
    ["a client", createClient],
  ])(
    "ctx.api, from %s, reaches the API at once, may be destructured, and has one effect with a key of the context",
    async (_, apiOf) => {
      expectTypeOf<HandlerContext["api"]>().toEqualTypeOf<Client>();
      const { service, api } = await openService();
      const stored: number[] = [];
      await runOnce({ api: apiOf(api) }, async ({ api: client, idempotencyKey, attempt }) => {
        const event = { name: "order.shipped", email: "ada@example.com" };
        await client.contactEvents.send(event, { idempotencyKey: idempotencyKey("shipped") });
        stored.push(service.stored.length);
        if (attempt === 1) throw new Error("after the call");
      });
      expect(stored).toEqual([1, 1]);
      expect(service.calls).toMatchObject([0, 1].map(() => ({ authorization: "Bearer svc_test_ctx" })));
    },
  );

  test("ctx.api is the very client given as api where createClient has not made it", async () => {
    const { api } = await openService();
    const client = { ...createClient(api) };
    let given: Client | undefined;
    await runOnce({ api: client }, (ctx) => void (given = ctx.api));
    expect(given).toBe(client);
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
  /** A receiver with a handler that calls an API that is busy. */
  async function openBusy(retryAfter: string, apiOf: (options: ClientOptions) => NonNullable<Options["api"]>) {
    const clock = fakeClock();
    const seen = { calls: 0, runs: 0 };
    const fetch = async () => {
      seen.calls += 1;
      return new Response("{}", { status: 429, headers: { "retry-after": retryAfter } });
    };
    const api = apiOf({ apiKey: "svc_test_ctx", baseUrl: "http://127.0.0.1:9", fetch, clock });
    const receiver = openReceiver({ clock, api });
    receiver.on("email.sent", (_event, ctx) => {
      seen.runs += 1;
      return ctx.api.contacts.list();
    });
    await receiver.start();
    const untilCalls = (calls: number, stepMs: number) =>
      expect.poll(() => clock.advance(stepMs).then(() => seen.calls)).toBe(calls);
    return { clock, seen, api, receiver, untilCalls };
  }

  describe.each([
    ["options", (options: ClientOptions) => options],
    ["a client", createClient],
  ])("given %s as api", (_, apiOf) => {
    test.each([
      ["5", 3],
      ["6", 1],
      ["60", 1],
    ])("of %s s, the handler calls %i times in its run, and then its work waits", async (seconds, calls) => {
      const { clock, seen, receiver, untilCalls } = await openBusy(seconds, apiOf);
      const event = await postEvent(receiver);
      await untilCalls(calls, calls === 1 ? 0 : 5_000);
      await untilWork(receiver, event.id, { state: "pending", maxAttempts: null, waitsFor: "retry_after" });
      const dueAt = Date.parse((await workOf(receiver, event.id))?.dueAt ?? "");
      expect(dueAt - clock.now()).toBe(Number(seconds) * 1_000);
      expect(seen).toEqual({ calls, runs: 1 });
    });
  });

  test("of 60 s is waited for outside of a handler by the client of the option api", async () => {
    const { clock, api, untilCalls } = await openBusy("60", createClient);
    const begunAt = clock.now();
    const refused = errorOf(() => (api as Client).contacts.list());
    await untilCalls(3, 30_000);
    expect(await refused).toMatchObject({ status: 429, retryAfterMs: 60_000 });
    expect(clock.now() - begunAt).toBeGreaterThanOrEqual(120_000);
  });
});
