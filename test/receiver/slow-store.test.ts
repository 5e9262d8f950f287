import type { Alarm } from "pigeonhole";
import { fakeClock } from "pigeonhole/testing";
import { describe, expect, test } from "vitest";
import { passWaits } from "../support/pass-waits.js";
import { decorateStore, makeEvent, makeGate, openReceiver, post } from "../support/receiver.js";
import { makeSlowStore } from "../support/slow-store.js";
import { startReceiver } from "../support/start-receiver.js";

const ANSWER_MS = 3_500;

/** A receiver whose store takes nothing until its gate is opened, but has been given what waits there. */
async function openSlow() {
  const clock = fakeClock();
  const { store, gate, given } = makeSlowStore();
  const alarms: Alarm[] = [];
  const runs: string[] = [];
  const receiver = await startReceiver(
    { store, clock, onAlarm: (alarm) => alarms.push(alarm) },
    { "email.sent": ({ id }) => void runs.push(id) },
  );
  const send = (event = makeEvent()) => post(receiver, event, { at: clock.now() });
  /** Sends, and waits until the store has it. */
  const sendSlowly = async (event = makeEvent()) => {
    const before = given();
    const answered = send(event);
    await expect.poll(given).toBe(before + 1);
    return { answered };
  };
  return { clock, gate, alarms, runs, receiver, send, sendSlowly };
}

const REFUSED = { status: 503, outcome: "overloaded", text: "overloaded" };

describe("a store that is slower than the service waits", () => {
  test("a delivery that the store does not take in time is answered 503 at that time, not before, with an alarm", async () => {
    const { clock, gate, alarms, sendSlowly } = await openSlow();
    const { answered } = await sendSlowly();
    let isAnswered = false;
    void answered.then(() => (isAnswered = true));
    await clock.advance(ANSWER_MS - 1);
    expect([isAnswered, alarms]).toEqual([false, []]);
    await clock.advance(1);
    const answer = await answered;
    expect(answer).toMatchObject(REFUSED);
    expect(answer.headers.get("retry-after")).toBe("30");
    expect(alarms).toEqual([{ kind: "deliveries_overdue", waiting: 1 }]);
    gate.open();
  });

  test("new deliveries are refused at once while one is overdue, and accepted when it is stored", async () => {
    const { clock, gate, send, sendSlowly, receiver } = await openSlow();
    const first = await sendSlowly();
    await clock.advance(ANSWER_MS - 1_000);
    const second = await sendSlowly();
    await clock.advance(1_000);
    expect(await first.answered).toMatchObject(REFUSED);
    expect(await send()).toMatchObject(REFUSED);
    expect((await receiver.stats()).waiting).toBe(2);
    gate.open();
    expect(await second.answered).toMatchObject({ status: 200, outcome: "accepted" });
    await expect.poll(async () => (await receiver.stats()).waiting).toBe(0);
    expect(await send()).toMatchObject({ status: 200, outcome: "accepted" });
  });

  test("a delivery that was answered 503 and stored later is a duplicate at the next attempt, and its handlers run once", async () => {
    const { clock, gate, runs, send, sendSlowly, receiver } = await openSlow();
    const event = makeEvent();
    const { answered } = await sendSlowly(event);
    await clock.advance(ANSWER_MS);
    expect(await answered).toMatchObject(REFUSED);
    gate.open();
    await expect.poll(() => runs).toEqual([event.id]);
    expect(await send(event)).toMatchObject({ status: 200, outcome: "duplicate" });
    await receiver.stop();
    expect(runs).toEqual([event.id]);
  });

  test("no timer is left after an answer that came in time", async () => {
    const { clock, gate, send } = await openSlow();
    gate.open();
    const before = clock.pendingTimers;
    expect(await send()).toMatchObject({ status: 200 });
    expect(clock.pendingTimers).toBe(before);
  });
});

test("a start goes on while waits of a clock that was ahead are still corrected, and a failure of it is tried again", async () => {
  const clock = fakeClock();
  const [gate, again] = [makeGate(), makeGate()];
  let calls = 0;
  const store = decorateStore(() => ({
    async restartWaits() {
      calls += 1;
      if (calls > 1) again.open();
      await gate.passed;
      if (calls === 1) throw new Error("the store failed");
      return 0;
    },
  }));
  const receiver = openReceiver({ store, clock });
  receiver.on("email.sent", () => undefined);
  await passWaits(() => receiver.start());
  expect((await post(receiver, makeEvent(), { at: clock.now() })).status).toBe(200);
  await clock.advance(20_000);
  expect(calls).toBe(1);
  gate.open();
  // The next check comes when the failure is known.
  await Promise.all([again.passed, expect.poll(() => clock.advance(10_000).then(() => calls)).toBe(2)]);
});
