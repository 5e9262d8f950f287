import { describe, expect, test } from "vitest";
import * as z from "zod";
import { DoNotRetry } from "pigeonhole";
import { type Client, InvalidRequestError } from "pigeonhole/client";
import { partsOf } from "#pigeonhole/receiver/receiver-parts.js";
import { makeCrashedFile } from "../support/crashed-file.js";
import { makeEvent, makeGate, tempFile, untilWork } from "../support/receiver.js";
import { startWithAlarms } from "../support/alarms.js";
import { postUntil } from "../support/start-receiver.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const ok = (): void => undefined;
const never = () => Promise.reject(new DoNotRetry("never"));
const later = () => Promise.reject(new Error("later"));

describe("dead work", () => {
  test("dead work is reported when it increases, and again every six hours", async () => {
    const { clock, alarms, receiver } = await startWithAlarms({}, { "email.sent": never });
    await postUntil(receiver, { state: "dead" });
    expect(alarms).toEqual([]);
    await clock.advance(MINUTE);
    expect(alarms).toEqual([{ kind: "work_dead", dead: 1 }]);
    await postUntil(receiver, { state: "dead" });
    await clock.advance(MINUTE);
    expect(alarms.splice(0)).toEqual([
      { kind: "work_dead", dead: 1 },
      { kind: "work_dead", dead: 2 },
    ]);
    await clock.advance(6 * HOUR - MINUTE);
    expect(alarms).toEqual([]);
    await clock.advance(MINUTE);
    expect(alarms).toEqual([{ kind: "work_dead", dead: 2 }]);
  });

  test("dead work is not reported after it is discarded, nor after stop()", async () => {
    const { clock, alarms, receiver, deliver } = await startWithAlarms({}, { "email.sent": never });
    const { id } = await postUntil(receiver, { state: "dead" });
    await receiver.inbox.discard(id);
    await clock.advance(MINUTE);
    await deliver();
    await receiver.stop();
    await clock.advance(HOUR);
    expect(alarms).toEqual([]);
  });
});

test("parked work is reported with reason, types and count when it increases, and again every six hours", async () => {
  const other = z.object({ other: z.string() });
  const schemas = { "email.sent": other, "email.opened": other };
  const { clock, alarms, deliver } = await startWithAlarms({ schemas }, { "email.*": ok });
  for (const type of ["email.sent", "email.opened", "email.opened"]) {
    expect(await deliver(makeEvent({ type }))).toBe("parked");
  }
  await clock.advance(MINUTE);
  const alarm = { kind: "work_parked", reason: "bad_data", types: ["email.opened", "email.sent"], parked: 3 };
  await expect.poll(() => alarms).toEqual([alarm]);
  await clock.advance(6 * HOUR);
  await expect.poll(() => alarms).toEqual([alarm, alarm]);
});

test("work that is parked in a crash loop is reported by the start that parks it", async () => {
  const event = makeEvent();
  const store = await makeCrashedFile(event, "email.sent", 4);
  const { alarms, receiver } = await startWithAlarms({ store }, { "email.sent": ok });
  await untilWork(receiver, event.id, { state: "parked", reason: "crash_loop" });
  expect(alarms).toEqual([{ kind: "crash_loop", parked: 1 }]);
});

test("work that a drain parks in a crash loop is reported, also by a process that stops after it", async () => {
  const event = makeEvent();
  const store = await makeCrashedFile(event, "email.sent", 4);
  const { alarms, receiver } = await startWithAlarms({ store, role: "accept" }, { "email.sent": ok });
  await receiver.drain();
  await receiver.stop();
  expect(alarms).toEqual([{ kind: "crash_loop", parked: 1 }]);
});

describe("a backlog", () => {
  test.each([
    { backlogAfterMs: undefined, limit: 15 * MINUTE },
    { backlogAfterMs: HOUR, limit: HOUR },
  ])(
    "a backlog is reported once work has been due for $limit ms, and again after the same time",
    async ({ backlogAfterMs, limit }) => {
      const gate = makeGate();
      const { clock, alarms, receiver, deliver } = await startWithAlarms(
        { backlogAfterMs },
        { "email.sent": [() => gate.passed, { concurrency: 1, timeoutMs: 100 * HOUR }] },
      );
      await deliver();
      await deliver();
      await clock.advance(limit);
      expect(alarms).toEqual([]);
      await clock.advance(MINUTE);
      expect(alarms).toEqual([{ kind: "backlog", forMs: limit + MINUTE, pending: 2 }]);
      await clock.advance(limit);
      expect(alarms.splice(0)).toHaveLength(2);
      gate.open();
      await expect.poll(async () => (await receiver.stats()).done).toBe(2);
      await clock.advance(3 * limit);
      expect(alarms).toEqual([]);
    },
  );

  test("a long run or a wait for a retry is not a backlog", async () => {
    const gate = makeGate();
    const { clock, alarms, receiver, deliver } = await startWithAlarms(
      { retry: { initialMs: 2 * HOUR, jitter: 0 } },
      { "email.sent": [() => gate.passed, { timeoutMs: 100 * HOUR }], "email.opened": later },
    );
    await deliver();
    await postUntil(receiver, { state: "retrying" }, { type: "email.opened" });
    await clock.advance(HOUR);
    expect(alarms).toEqual([]);
    gate.open();
  });
});

test("work of a paused handler raises no backlog until the handler is resumed", async () => {
  const { clock, alarms, receiver, deliver } = await startWithAlarms({}, { "email.sent": ok });
  const inbox = partsOf(receiver).options.store.openOperator(Date.now);
  await inbox?.pauseHandler("email.sent", "ann");
  await clock.advance(MINUTE);
  const event = makeEvent();
  await deliver(event);
  await clock.advance(HOUR);
  expect(alarms).toEqual([]);
  expect(await receiver.stats()).toMatchObject({ pending: 1, lagMs: 0, oldestPendingAgeMs: HOUR });
  await inbox?.resumeHandler("email.sent");
  await clock.advance(MINUTE);
  await untilWork(receiver, event.id, { state: "done" });
});

test("work without a handler in the process that runs the handlers is reported", async () => {
  const file = tempFile();
  const owner = await startWithAlarms({ store: file }, { "email.sent": ok });
  const other = await startWithAlarms({ store: file }, { "email.sent": ok, "email.opened": ok });
  expect(await other.deliver(makeEvent({ type: "email.opened" }))).toBe("accepted");
  // The file is read by a thread, which does not know of the clock.
  const untilAlarm = ({ clock, alarms }: Awaited<ReturnType<typeof startWithAlarms>>) =>
    expect.poll(async () => {
      await clock.advance(MINUTE);
      return alarms;
    });
  await untilAlarm(owner).toEqual([{ kind: "handler_missing", handlers: ["email.opened"], pending: 1 }]);
  // The process that has the handler but must not run it sees its work wait.
  await untilAlarm(other).toEqual([{ kind: "backlog", forMs: expect.any(Number), pending: 1 }]);
});

test("work without a handler is reported by a drain, where handlers run only in drains", async () => {
  const file = tempFile();
  const before = await startWithAlarms({ store: file, role: "accept" }, { "email.opened": ok });
  await before.deliver(makeEvent({ type: "email.opened" }));
  await before.receiver.drain();
  await before.deliver(makeEvent({ type: "email.opened" }));
  await before.receiver.stop();
  expect(before.alarms).toEqual([]);

  const { receiver, alarms, clock, deliver } = await startWithAlarms(
    { store: file, role: "accept" },
    { "email.sent": ok },
  );
  await deliver();
  expect(await receiver.drain()).toMatchObject({ done: 1, drained: true });
  const alarm = { kind: "handler_missing", handlers: ["email.opened"], pending: 1 };
  expect(alarms).toEqual([alarm]);
  await clock.advance(2 * MINUTE);
  await receiver.drain();
  expect(alarms).toEqual([alarm]);
  await clock.advance(6 * HOUR);
  await receiver.drain();
  expect(alarms.filter(({ kind }) => kind === "handler_missing")).toEqual([alarm, alarm]);
});

test("a drain beside the process that runs the handlers reports no handler that it does not have", async () => {
  const file = tempFile();
  const owner = await startWithAlarms({ store: file }, { "email.opened": later });
  await postUntil(owner.receiver, { state: "retrying", attempts: 1 }, { type: "email.opened" });
  const { receiver, alarms } = await startWithAlarms({ store: file, role: "accept" });
  await receiver.drain();
  expect(alarms).toEqual([]);
});

describe("contact events", () => {
  const contactEvent = { name: "order.shipped", email: "ada@example.com" };

  function apiThat(send: () => Promise<never>): Client {
    return { contactEvents: { send, sendBatch: send } } as unknown as Client;
  }

  test("contact events that wait longer than the limit are reported", async () => {
    const api = apiThat(() => Promise.reject(new Error("no network")));
    const { clock, alarms, receiver } = await startWithAlarms({ api, backlogAfterMs: 5 * MINUTE });
    await receiver.contactEvents.record(contactEvent);
    await clock.advance(5 * MINUTE);
    expect(alarms).toEqual([]);
    await clock.advance(MINUTE);
    expect(alarms).toEqual([{ kind: "contact_events_stuck", forMs: 6 * MINUTE, pending: 1 }]);
  });

  test("contact events that the service refused are reported", async () => {
    const refusal = {
      call: "contactEvents.send",
      status: 422,
      code: "invalid_parameter",
      message: "no",
      param: "name",
    };
    const error = new InvalidRequestError({ ...refusal, requestId: undefined, retryAfterMs: undefined });
    const api = apiThat(() => Promise.reject(error));
    const { clock, alarms, receiver } = await startWithAlarms({ api });
    await receiver.contactEvents.record(contactEvent);
    await expect.poll(async () => (await receiver.stats()).outbox.dead).toBe(1);
    await clock.advance(MINUTE);
    expect(alarms).toEqual([{ kind: "contact_events_dead", dead: 1 }]);
  });
});
