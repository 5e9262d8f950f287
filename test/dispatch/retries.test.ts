import { describe, expect, test } from "vitest";
import { type ReceiverOptions, RetryAfter } from "pigeonhole";
import { fakeClock } from "pigeonhole/testing";
import { isoTime } from "#pigeonhole/base/iso-time.js";
import { operate } from "../support/operate.js";
import { decorateStore, makeEvent, openReceiver, post, tempFile, untilWork, workOf } from "../support/receiver.js";
import { postEvent, startReceiver } from "../support/start-receiver.js";

/** A started receiver whose handler fails as told, with the times of its runs since the first. */
async function startFailing(
  fail: (run: number) => unknown,
  options: Partial<ReceiverOptions<Record<never, never>>> = {},
) {
  const clock = fakeClock();
  const t0 = clock.now();
  const runs: number[] = [];
  const receiver = await startReceiver(
    { clock, random: () => 0.5, ...options },
    {
      "email.sent": () => {
        runs.push(clock.now() - t0);
        return fail(runs.length);
      },
    },
  );
  const event = await postEvent(receiver, {}, { at: t0 });
  const settled = (attempts: number, state: string) =>
    untilWork(receiver, event.id, { attempts, state: state as "pending" });
  return { clock, runs, receiver, event, settled };
}

const fail = () => {
  throw new Error("not now");
};

test("a failing handler runs again after waits that vary until it succeeds, and the last error is removed", async () => {
  const chances = [0.25, 0.75];
  const random = () => chances.shift() ?? 0;
  const { clock, receiver, event, settled } = await startFailing((run) => (run < 3 ? fail() : undefined), { random });
  // 10 and 20 seconds, less or more up to a fifth.
  for (const [index, wait] of [9_000, 22_000].entries()) {
    await settled(index + 1, "retrying");
    const dueAt = isoTime(clock.now() + wait);
    expect(await workOf(receiver, event.id)).toMatchObject({ error: "Error: not now", reason: null, dueAt });
    await clock.advance(wait);
  }
  await settled(3, "done");
  expect(await workOf(receiver, event.id)).toMatchObject({ error: null, dueAt: null });
  expect(await receiver.stats()).toMatchObject({ pending: 0, done: 1, dead: 0 });
});

test("a failing handler uses its own retry policy if it has one, otherwise that of the receiver", async () => {
  const clock = fakeClock();
  const receiver = openReceiver({ clock, random: () => 0.5, retry: { initialMs: 7_000, factor: 2 } });
  receiver.on("email.sent", fail, { name: "own", retry: { initialMs: 50 } });
  receiver.on("email.sent", fail, { name: "general" });
  await receiver.start();
  const event = makeEvent();
  const at = clock.now();
  await post(receiver, event, { at });
  await untilWork(receiver, event.id, { state: "retrying", dueAt: isoTime(at + 50) }, "own");
  await untilWork(receiver, event.id, { state: "retrying", dueAt: isoTime(at + 7_000) }, "general");
});

test("RetryAfter spends no attempt until its waits have taken as long as those of the policy", async () => {
  const { clock, runs, receiver, event, settled } = await startFailing(
    () => {
      throw new RetryAfter("busy", 10_000);
    },
    { retry: { maxAttempts: 3, initialMs: 20_000, factor: 1 } },
  );
  // Four waits of 10 s in the span of 40 s; then two as long as those of the policy.
  for (let run = 1; run < 7; run += 1) {
    await settled(run, run < 5 ? "pending" : "retrying");
    const wait = run < 5 ? 10_000 : 20_000;
    expect(await workOf(receiver, event.id)).toMatchObject({
      error: "RetryAfter: busy",
      dueAt: isoTime(clock.now() + wait),
      waitsFor: run < 5 ? "retry_after" : null,
    });
    await clock.advance(wait);
  }
  await settled(7, "dead");
  expect(await workOf(receiver, event.id)).toMatchObject({ reason: "attempts_spent", waitsFor: null });
  expect(runs).toEqual([0, 10, 20, 30, 40, 60, 80].map((second) => second * 1_000));
});

test.each([-1, Number.NaN, Infinity, 1e300, new Date(Number.NaN), new Date(-1), "5" as unknown as number])(
  "RetryAfter refuses %s",
  (when) => {
    expect(() => new RetryAfter("busy", when)).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  },
);

describe("RetryAfter that holds the handler", () => {
  const holding = async () => {
    const clock = fakeClock();
    const store = decorateStore(() => ({}), tempFile());
    const receiver = openReceiver({ store, clock, random: () => 0.5, concurrency: 1 });
    const runs: string[] = [];
    const other: string[] = [];
    let isBusy = true;
    receiver.on(
      "email.sent",
      (event) => {
        runs.push(event.id);
        if (isBusy) throw new RetryAfter("the CRM says 429", 60_000, { holds: "handler" });
      },
      { name: "crm", concurrency: 1 },
    );
    receiver.on("email.*", (event) => void other.push(event.id), { name: "audit" });
    await receiver.start();
    const send = async () => {
      const event = await postEvent(receiver);
      return event.id;
    };
    return { clock, store, receiver, runs, other, send, recover: () => (isBusy = false) };
  };

  test("lets no other event of the handler begin before, and all begin then", async () => {
    const { clock, receiver, runs, other, send, recover } = await holding();
    const first = await send();
    await untilWork(receiver, first, { state: "pending", attempts: 1, waitsFor: "retry_after" }, "crm");
    const later = [await send(), await send(), await send()];
    await expect.poll(() => other.length).toBe(4);
    await clock.advance(59_000);
    expect(runs).toEqual([first]);
    expect((await receiver.stats()).waitsFor).toEqual({ crm: "retry_after" });
    for (const id of later) await untilWork(receiver, id, { state: "pending", waitsFor: "retry_after" }, "crm");
    recover();
    await clock.advance(1_000);
    for (const id of [first, ...later]) {
      await untilWork(receiver, id, { state: "done", waitsFor: null }, "crm");
    }
    expect(runs.toSorted()).toEqual([first, first, ...later].toSorted());
  });

  test("a person who runs the waiting event at once ends the hold", async () => {
    const { clock, store, receiver, runs, send, recover } = await holding();
    const first = await send();
    await untilWork(receiver, first, { state: "pending", attempts: 1 }, "crm");
    const second = await send();
    recover();
    await operate(store, clock.now()).changeEvent("run", first);
    await clock.advance(2_000);
    for (const id of [first, second]) await untilWork(receiver, id, { state: "done" }, "crm");
    expect(runs).toHaveLength(3);
  });

  test("refuses another word", () => {
    const holds = "all" as "handler";
    expect(() => new RetryAfter("busy", 1, { holds })).toThrow(expect.objectContaining({ code: "invalid_argument" }));
    // @ts-expect-error A handler is what can be held.
    expect(() => new RetryAfter("busy", 1, { holds: "key" })).toThrow();
    // @ts-expect-error Misspelt.
    expect(() => new RetryAfter("busy", 1, { hold: "handler" })).toThrow("no other option");
  });
});

test("a failing handler does not cause another handler of the event to run again", async () => {
  const clock = fakeClock();
  const runs = { good: 0, bad: 0 };
  const receiver = openReceiver({ clock, random: () => 0.5, retry: { initialMs: 1_000, factor: 1, maxAttempts: 3 } });
  receiver.on("email.sent", () => (runs.good += 1), { name: "good" });
  receiver.on("email.*", () => {
    runs.bad += 1;
    fail();
  });
  await receiver.start();
  const event = await postEvent(receiver);
  for (const attempts of [1, 2]) {
    await untilWork(receiver, event.id, { state: "retrying", attempts }, "email.*");
    await clock.advance(1_000);
  }
  await untilWork(receiver, event.id, { state: "dead", attempts: 3 }, "email.*");
  expect(runs).toEqual({ good: 1, bad: 3 });
  expect(await workOf(receiver, event.id, "good")).toMatchObject({ state: "done", attempts: 1 });
  expect((await receiver.inbox.get(event.id))?.state).toBe("dead");
});
