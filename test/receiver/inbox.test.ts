import { describe, expect, test } from "vitest";
import { DoNotRetry, type EventDetail, type Receiver } from "pigeonhole";
import { fakeClock } from "pigeonhole/testing";
import { isoTime } from "#pigeonhole/base/iso-time.js";
import { bytesOf, makeEvent, openReceiver, post, untilWork, workOf } from "../support/receiver.js";
import { postUntil, startReceiver } from "../support/start-receiver.js";
import { errorOf } from "../support/error-of.js";
import { createFailingHandler } from "../support/failing-handler.js";

/** One handler that fails for good until it is fixed. */
async function startWithFailingHandler() {
  const failing = createFailingHandler(() => new DoNotRetry("broken"));
  const runs: string[] = [];
  const receiver = await startReceiver(
    {},
    {
      "email.sent": ({ id }) => {
        runs.push(id);
        failing.run();
      },
      "*": [() => undefined, { name: "audit" }],
    },
  );
  const deliver = async (fields = {}) => {
    const event = await postUntil(receiver, { state: "dead" }, fields);
    await untilWork(receiver, event.id, { state: "done" }, "audit");
    return event;
  };
  return { receiver, runs, deliver, fix: failing.fix };
}

describe("inbox.erase", () => {
  test("inbox.erase deletes the body and keeps the id, so that nothing of it runs again", async () => {
    const { receiver, runs, deliver } = await startWithFailingHandler();
    const event = await deliver({ data: { to: ["ann@example.com"] } });
    const counts = {
      work: 1,
      eventsLeft: 0,
      contactEvents: 0,
      contactEventsLeft: 0,
      jobs: 0,
      jobsLeft: 0,
      walLeft: null,
    };
    const email = "Ann@Example.com";
    expect(await receiver.inbox.erase({ email, dryRun: true })).toEqual({ events: 1, ...counts });
    expect(await receiver.inbox.erase({ email })).toEqual({ events: 1, ...counts });
    expect(await receiver.inbox.get(event.id)).toMatchObject({ body: null, state: "done" });
    expect(await errorOf(() => receiver.inbox.retry(event.id))).toMatchObject({ code: "body_dropped" });
    expect(await receiver.inbox.retryAll({ state: "dead" })).toMatchObject({ events: 0 });
    expect(runs).toEqual([event.id]);
  });

  test.each([
    ["invalid_argument", { email: "ann" }],
    ["invalid_argument", {} as { email: string }],
    ["invalid_option", { email: "ann@example.com", all: true }],
  ])("inbox.erase rejects with %s for %j", async (code, options) => {
    const { receiver } = await startWithFailingHandler();
    expect(await errorOf(() => receiver.inbox.erase(options))).toMatchObject({ code });
  });
});

describe("inbox.backup", () => {
  test.each<[string, (receiver: Receiver) => Promise<unknown>, string]>([
    ["before the start", (receiver) => receiver.inbox.backup("copy.db"), "stopped"],
    ["of a database in memory", async (r) => (await r.start(), r.inbox.backup("copy.db")), "invalid_argument"],
    ["without a path", (receiver) => receiver.inbox.backup(""), "invalid_argument"],
  ])("inbox.backup %s is refused", async (_, call, code) => {
    const receiver = openReceiver();
    expect(await errorOf(() => call(receiver))).toMatchObject({ code });
  });
});

describe("inbox.list", () => {
  test.each([
    [{ limit: 0 }, "invalid_option"],
    [{ limit: 501 }, "invalid_option"],
    [{ limit: 1.5 }, "invalid_option"],
    [{ cursor: "evt_1" }, "invalid_argument"],
    [{ cursor: "" }, "invalid_argument"],
  ])("inbox.list and contactEvents.list refuse %o with %s", async (query, code) => {
    const receiver = await startReceiver();
    expect(await errorOf(() => receiver.inbox.list(query))).toMatchObject({ code });
    expect(await errorOf(() => receiver.contactEvents.list(query))).toMatchObject({ code });
    expect((await receiver.inbox.list()).items).toEqual([]);
  });
});

describe("inbox.get", () => {
  test("inbox.get shows the event, its bytes and the state of each handler, and a list all but errors in full and steps", async () => {
    const clock = fakeClock();
    const receiver = await startReceiver(
      { clock },
      { "email.sent": () => Promise.reject(new DoNotRetry("never")), "email.*": () => undefined },
    );
    const event = makeEvent();
    const at = clock.now();
    await post(receiver, event, { at: at - 2_000 });
    await untilWork(receiver, event.id, { state: "dead" });
    await untilWork(receiver, event.id, { state: "done" }, "email.*");
    const { body, seq, ...view } = (await receiver.inbox.get(event.id)) as EventDetail;
    expect(Buffer.from(body ?? [])).toEqual(bytesOf(event));
    expect(seq).toBe(1);
    const none = { dueAt: null, retryRequestedAt: null, waitsFor: null, steps: [] };
    const common = { ...none, attempts: 1, maxAttempts: 14, settledAt: isoTime(at) };
    const run = { attempt: 1, at: isoTime(at), stack: expect.stringMatching(/^DoNotRetry: never\n {4}at /) as string };
    expect(view).toEqual({
      id: event.id,
      source: "",
      type: "email.sent",
      test: false,
      receivedAt: isoTime(at),
      signedAt: isoTime(at - 2_000),
      state: "dead",
      handlers: [
        { ...common, handler: "email.*", state: "done", reason: null, error: null, failed: null },
        {
          ...common,
          handler: "email.sent",
          state: "dead",
          reason: "do_not_retry",
          error: "DoNotRetry: never",
          failed: { first: run, last: run },
        },
      ],
    });
    const [row] = (await receiver.inbox.list()).items;
    expect(row).toEqual({
      ...view,
      handlers: view.handlers.map((work) => ({ ...work, failed: undefined, steps: undefined })),
    });
  });
});

describe("inbox.retry", () => {
  test("inbox.retry gives dead work new attempts and does not change done work", async () => {
    const { receiver, runs, deliver, fix } = await startWithFailingHandler();
    const event = await deliver();
    fix();
    expect(await receiver.inbox.retry(event.id)).toEqual({ pending: 1, parked: undefined });
    await untilWork(receiver, event.id, { state: "done", attempts: 1 });
    expect(runs).toEqual([event.id, event.id]);
    expect(await workOf(receiver, event.id, "audit")).toMatchObject({ state: "done", attempts: 1 });
    expect(await receiver.stats()).toMatchObject({ dead: 0, done: 2 });
  });

  test("inbox.retry rejects with not_found for an unknown id", async () => {
    const receiver = await startReceiver();
    expect(await errorOf(() => receiver.inbox.retry("evt_none"))).toMatchObject({ code: "not_found" });
  });
});

describe("inbox.retryAll", () => {
  test("inbox.retryAll retries all dead work, oldest first", async () => {
    const { receiver, runs, fix } = await startWithFailingHandler();
    const events = Array.from({ length: 5 }, () => makeEvent());
    await Promise.all(events.map((event) => post(receiver, event)));
    await post(receiver, "parked stays parked");
    await expect.poll(() => receiver.stats()).toMatchObject({ dead: 5, pending: 0, running: 0 });
    const { items } = await receiver.inbox.list({ state: "dead", limit: 500 });
    runs.length = 0;
    fix();
    expect(await receiver.inbox.retryAll({ state: "dead" })).toEqual({ events: 5, pending: 5, stillParked: 0 });
    await expect.poll(() => receiver.stats()).toMatchObject({ dead: 0, pending: 0, running: 0, parked: 1 });
    expect(runs.toSorted()).toEqual(events.map(({ id }) => id).toSorted());
    expect(runs).toEqual(items.map(({ id }) => id).toReversed());
  });

  test("inbox.retryAll reads all parked events again, more than a page of them, and says how many stay parked", async () => {
    const { receiver } = await startWithFailingHandler();
    await Promise.all(Array.from({ length: 105 }, (_, index) => post(receiver, `parked ${index}`)));
    expect(await receiver.inbox.retryAll({ state: "parked" })).toEqual({ events: 105, pending: 0, stillParked: 105 });
    expect((await receiver.stats()).parked).toBe(105);
  });
});

describe("inbox.discard", () => {
  test("inbox.discard ends dead work without running it, and keeps the id", async () => {
    const { receiver, runs, deliver, fix } = await startWithFailingHandler();
    const event = await deliver();
    fix();
    expect(await receiver.inbox.discard(event.id)).toBe(1);
    expect(await workOf(receiver, event.id)).toMatchObject({ state: "discarded" });
    expect(await workOf(receiver, event.id, "audit")).toMatchObject({ state: "done" });
    expect((await post(receiver, event)).outcome).toBe("duplicate");
    expect(await receiver.stats()).toMatchObject({ dead: 0, pending: 0 });
    expect(runs).toEqual([event.id]);
    expect(await receiver.inbox.discard(event.id)).toBe(0);
  });
});
