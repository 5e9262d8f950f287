import { describe, expect, test } from "vitest";
import { RetryAfter } from "pigeonhole";
import { fakeClock, signDelivery } from "pigeonhole/testing";
import { ANSWERS } from "#pigeonhole/protocol/outcome.js";
import { decorateStore, storeIn, tempFile } from "../support/store-in.js";
import { makeEvent, openReceiver, post, untilWork } from "../support/receiver.js";
import { postEvent, postUntil, startReceiver } from "../support/start-receiver.js";
import { makeGate } from "../support/gate.js";
import { operatedBy } from "../support/operate.js";

const OTHER_SECRET = `whsec_${"z".repeat(43)}`;
const MINUTE = 60_000;

const noAnswers = Object.fromEntries(Object.keys(ANSWERS).map((kind) => [kind, 0]));

test("a receiver that has just started has every number at zero", async () => {
  const receiver = await startReceiver();
  expect(await receiver.stats()).toEqual({
    state: "running",
    paused: [],
    waitsFor: {},
    countedAt: expect.any(String),
    pending: 0,
    retrying: 0,
    running: 0,
    dead: 0,
    parked: 0,
    done: 0,
    pendingByHandler: {},
    oldestPendingAgeMs: 0,
    lagMs: 0,
    outbox: { pending: 0, running: 0, retrying: 0, dead: 0, oldestAgeMs: 0 },
    answers: noAnswers,
    endpoint: { failuresInARow: 0, disablesAt: 100, lastAcceptedAt: null, silentForMs: null, isSilent: false },
    newestReceivedAt: null,
    repair: null,
    waiting: 0,
  });
});

describe("failuresInARow", () => {
  test("failuresInARow counts what the service takes for a failure, and a 200 resets it", async () => {
    const clock = fakeClock();
    const receiver = await startReceiver({ clock });
    const at = clock.now();
    const row = async () => (await receiver.stats()).endpoint.failuresInARow;
    const event = makeEvent();
    const encoded = { method: "POST", body: "{}", headers: { "content-encoding": "br" } };
    await post(receiver, event, { at, secret: OTHER_SECRET });
    await post(receiver, event, { at: at - 400_000 });
    expect(await row()).toBe(2);
    // Strangers: no signature, no POST, a body that is broken off.
    const broken = new ReadableStream({ start: (body) => body.error(new Error("gone")) });
    const sent = { method: "POST", headers: signDelivery({ body: "{}", secret: OTHER_SECRET, timestamp: at }) };
    await receiver.fetch(new Request("http://pigeonhole.test/", { ...sent, body: broken, duplex: "half" }));
    await receiver.fetch(new Request("http://pigeonhole.test/"));
    await receiver.fetch(new Request("http://pigeonhole.test/", { method: "POST", body: "{}" }));
    await receiver.fetch(new Request("http://pigeonhole.test/", encoded));
    expect(await row()).toBe(2);
    expect((await receiver.stats()).answers.body_aborted).toBe(1);
    for (const body of [event, event, "parked"]) {
      await post(receiver, body, { at });
      expect(await row()).toBe(0);
      await post(receiver, body, { at, secret: OTHER_SECRET });
      expect(await row()).toBe(1);
    }
  });

  test("failuresInARow leaves out requests without a signature before the start and after the stop", async () => {
    const receiver = openReceiver({ clock: fakeClock() });
    const stranger = () => receiver.fetch(new Request("http://pigeonhole.test/", { method: "POST", body: "{}" }));
    expect((await stranger()).status).toBe(503);
    await receiver.start();
    await receiver.stop();
    expect((await stranger()).status).toBe(503);
    expect((await receiver.stats()).endpoint.failuresInARow).toBe(0);
  });

  test("failuresInARow raises the alarm at the 20th and each 20th after it", async () => {
    const clock = fakeClock();
    const rows: number[] = [];
    const receiver = await startReceiver({
      clock,
      onAlarm(alarm) {
        if (alarm.kind !== "failures_in_a_row") return;
        expect(alarm.disablesAt).toBe(100);
        rows.push(alarm.inARow);
      },
    });
    const expected: Record<number, number[]> = { 19: [], 20: [20], 39: [20], 40: [20, 40], 59: [20, 40] };
    for (let failure = 1; failure < 60; failure += 1) {
      await post(receiver, makeEvent(), { secret: OTHER_SECRET });
      if (failure in expected) expect(rows).toEqual(expected[failure]);
      // Past the throttle of a minute.
      if (failure === 20) await clock.advance(MINUTE);
    }
  });
});

describe("the lag of handlers", () => {
  test("the lag includes work that waits in memory for a stuck handler, and not the run itself", async () => {
    const clock = fakeClock();
    const gate = makeGate();
    const slow = { timeoutMs: 600_000, concurrency: 1 };
    const receiver = await startReceiver({ clock }, { "email.sent": [() => gate.passed, slow] });
    await post(receiver, makeEvent());
    await clock.advance(MINUTE);
    expect(await receiver.stats()).toMatchObject({ running: 1, lagMs: 0, oldestPendingAgeMs: MINUTE });
    for (let index = 0; index < 3; index += 1) await post(receiver, makeEvent());
    await clock.advance(2 * MINUTE);
    const behind = { running: 4, pending: 0, lagMs: 2 * MINUTE, oldestPendingAgeMs: 3 * MINUTE };
    expect(await receiver.stats()).toMatchObject(behind);
    gate.open();
    await expect.poll(() => receiver.stats()).toMatchObject({ done: 4, lagMs: 0, oldestPendingAgeMs: 0 });
  });

  test("the lag of a retry counts from when it is due, not from when its event was received", async () => {
    const clock = fakeClock();
    const gate = makeGate();
    const receiver = openReceiver({ clock });
    const stuck = makeEvent();
    receiver.on(
      "email.sent",
      (event, ctx) => {
        if (event.id === stuck.id) return gate.passed;
        if (ctx.attempt === 1) throw new RetryAfter("later", MINUTE);
        return undefined;
      },
      { timeoutMs: 6_000_000, concurrency: 1 },
    );
    await receiver.start();
    const retried = await postUntil(receiver, { state: "pending" });
    await post(receiver, stuck);
    await clock.advance(MINUTE);
    await untilWork(receiver, retried.id, { state: "running" });
    await clock.advance(5_000);
    expect((await receiver.stats()).lagMs).toBe(5_000);
    gate.open();
    await untilWork(receiver, retried.id, { state: "done" });
  });
});

test("lastAcceptedAt is that of the newest event of the store after a restart, until another is stored", async () => {
  const file = tempFile();
  const before = await startReceiver({ store: storeIn(file) });
  const since = Date.now();
  await post(before, makeEvent());
  const acceptedAt = Date.parse((await before.stats()).endpoint.lastAcceptedAt ?? "");
  expect(acceptedAt).toBeGreaterThanOrEqual(since);
  await before.stop();
  const clock = fakeClock(acceptedAt + 3 * MINUTE);
  const after = await startReceiver({ store: storeIn(file), clock });
  const last = async () => Date.parse((await after.stats()).endpoint.lastAcceptedAt ?? "");
  // As it is stored, before its commit.
  await expect.poll(last).toBeGreaterThanOrEqual(since);
  expect(await last()).toBeLessThanOrEqual(acceptedAt);
  await post(after, makeEvent());
  expect(await last()).toBe(clock.now());
});

test("a delivery that comes before the newest event of the store is read counts", async () => {
  const gate = makeGate();
  let asked = 0;
  const store = decorateStore((real) =>
    operatedBy(real, (operator) => ({
      overview: () => ((asked += 1) === 1 ? gate.passed.then(() => operator.overview()) : operator.overview()),
    })),
  );
  const clock = fakeClock();
  const receiver = await startReceiver({ store, clock });
  await post(receiver, makeEvent());
  const last = async () => Date.parse((await receiver.stats()).endpoint.lastAcceptedAt ?? "");
  const acceptedAt = await last();
  expect(acceptedAt).toBe(clock.now());
  await clock.advance(MINUTE);
  await post(receiver, makeEvent());
  gate.open();
  await clock.advance(1);
  expect(await last()).toBe(acceptedAt + MINUTE);
});

test("lastAcceptedAt changes with stored deliveries, not with duplicates and refusals", async () => {
  const clock = fakeClock();
  const t0 = clock.now();
  const receiver = await startReceiver({ clock });
  const last = async () => Date.parse((await receiver.stats()).endpoint.lastAcceptedAt ?? "");
  const event = await postEvent(receiver, {}, { at: t0 });
  expect(await last()).toBe(t0);
  await clock.advance(1_000);
  await post(receiver, event, { at: t0 });
  await post(receiver, makeEvent(), { at: t0, secret: OTHER_SECRET });
  expect(await last()).toBe(t0);
  await post(receiver, "parked", { at: t0 });
  expect(await last()).toBe(t0 + 1_000);
});
