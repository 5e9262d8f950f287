import { describe, expect, test } from "vitest";
import type { HandlerContext, ReceiverOptions } from "pigeonhole";
import { fakeClock } from "pigeonhole/testing";
import { bytesOf, captureLog, decorateStore, makeEvent, openReceiver, post, untilWork } from "../support/receiver.js";

const quickRetry = { initialMs: 1, factor: 1, jitter: 0 };

describe("ctx.idempotencyKey", () => {
  interface Place {
    name?: string;
    handler?: string;
    id?: string;
  }

  /** The keys that a handler derives in each of its runs. */
  async function keysOf(place: Place, label = "charge") {
    const { name = "default", handler = "mine", id = "key_evt" } = place;
    const keys: string[] = [];
    const receiver = openReceiver({ name, retry: quickRetry });
    receiver.on(
      "email.sent",
      (_, { attempt, idempotencyKey }) => {
        keys.push(idempotencyKey(label));
        if (attempt < 3) throw new Error("again");
      },
      { name: handler },
    );
    await receiver.start();
    await post(receiver, makeEvent({ id }));
    await untilWork(receiver, id, { state: "done", attempts: 3 }, handler);
    return keys;
  }

  test("ctx.idempotencyKey is the same in every run and every process, and is valid for the service", async () => {
    const [first = "", ...others] = await keysOf({});
    expect(first).toMatch(/^key_[A-Za-z0-9_-]{43}$/);
    expect(others).toEqual([first, first]);
    expect(await keysOf({})).toEqual([first, first, first]);
  });

  test.each<[string, Place, string]>([
    ["label", {}, "refund"],
    ["handler", { handler: "other" }, "charge"],
    ["event", { id: "key_other" }, "charge"],
    ["receiver", { name: "second" }, "charge"],
    ["empty label", {}, ""],
    // The parts are not just put together.
    ["division of the same characters", { handler: "minec" }, "harge"],
  ])("ctx.idempotencyKey differs with another %s", async (_, place, label) => {
    const [base] = await keysOf({});
    const [key] = await keysOf(place, label);
    expect(key).toMatch(/^key_[A-Za-z0-9_-]{43}$/);
    expect(key).not.toBe(base);
  });
});

describe("ctx", () => {
  /** The context of one run, as it was seen in it. */
  async function contextOf(
    options: Partial<ReceiverOptions<Record<never, never>>>,
    read: (ctx: HandlerContext) => void,
  ) {
    const clock = fakeClock();
    const receiver = openReceiver({ clock, ...options });
    receiver.on("email.sent", (_, ctx) => read(ctx), { name: "mine" });
    await receiver.start();
    const event = makeEvent();
    await post(receiver, event, { at: clock.now() - 7_000 });
    await untilWork(receiver, event.id, { state: "done" }, "mine");
    return { clock, event };
  }

  test("ctx.delivery has the times and the exact bytes", async () => {
    let delivery: HandlerContext["delivery"] | undefined;
    const { clock, event } = await contextOf({}, (ctx) => ({ delivery } = ctx));
    expect(delivery).toMatchObject({ receivedAt: clock.now(), signedAt: clock.now() - 7_000 });
    expect(Buffer.from(delivery?.rawBody ?? [])).toEqual(bytesOf(event));
  });

  test("ctx.log has the event, its type, the handler and the attempt in each line", async () => {
    const log = captureLog();
    const { event } = await contextOf({ logger: log.logger }, (ctx) => ctx.log.info({ mine: 1 }, "hello"));
    const fields = { eventId: event.id, eventType: "email.sent", handler: "mine", attempt: 1 };
    expect(log.named("hello")).toEqual([expect.objectContaining({ ...fields, level: 30, mine: 1 })]);
  });

  test("ctx.signal is not aborted in a run that ends in time, nor after it", async () => {
    let signal: AbortSignal | undefined;
    const { clock } = await contextOf({}, (ctx) => ({ signal } = ctx));
    await clock.advance(120_000);
    expect(signal?.aborted).toBe(false);
  });
});

describe("an event changed by a handler", () => {
  type Data = { list: number[]; name?: string };

  test("an event that a handler changed is unchanged for the other handlers and the next attempt", async () => {
    const seen = new Map<string, string[]>();
    let leasedWhenStored = 0;
    const store = decorateStore((real) => ({
      accept(event) {
        if (event.work.every(({ leaseUntil }) => leaseUntil !== undefined)) leasedWhenStored += 1;
        return real.accept(event);
      },
    }));
    const receiver = openReceiver({ store, retry: quickRetry });
    for (const name of ["one", "two", "three"]) {
      receiver.on(
        "email.sent",
        (event, { attempt }) => {
          const data = event.data as Data;
          seen.get(event.id)?.push(`${name} ${attempt} ${JSON.stringify(data)}`);
          data.list.push(9);
          data.name = name;
          (event as { id: string }).id = "spoilt";
          if (attempt === 1) throw new Error("again");
        },
        { name },
      );
    }
    await receiver.start();
    const expected = ["one", "two", "three"].flatMap((name) => [1, 2].map((run) => `${name} ${run} {"list":[1]}`));
    // The first ones come while the handlers still look for older work; later ones are handed over as they are stored.
    for (let count = 0; count < 5; count += 1) {
      const event = makeEvent({ data: { list: [1] } });
      seen.set(event.id, []);
      await post(receiver, event);
      for (const name of ["one", "two", "three"]) {
        await untilWork(receiver, event.id, { state: "done", attempts: 2 }, name);
      }
      expect(seen.get(event.id)?.toSorted()).toEqual(expected.toSorted());
    }
    expect(leasedWhenStored).toBeGreaterThan(0);
  });
});
