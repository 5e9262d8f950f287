import { describe, expect, onTestFinished, test } from "vitest";
import type { Alarm, ReceiverOptions } from "pigeonhole";
import { createSandbox } from "pigeonhole/sandbox";
import { type FakeClock, deliver as deliverByKit, fakeClock } from "pigeonhole/testing";
import { captureLog } from "../support/capture-log.js";
import { closeReceiver, makeEvent, post, untilWork, workOf } from "../support/receiver.js";
import { postEvent, startReceiver } from "../support/start-receiver.js";
import { storeIn, tempFile } from "../support/store-in.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The first round after a start, or the next one an hour later. */
const AFTER_START_MS = 200;

interface Given extends Partial<ReceiverOptions<Record<never, never>>> {
  clock?: FakeClock;
  file?: string;
}

async function start({ clock = fakeClock(), file = ":memory:", ...options }: Given = {}) {
  const alarms: Alarm[] = [];
  const log = captureLog();
  const receiver = await startReceiver(
    {
      clock,
      store: storeIn(file),
      logger: log.logger,
      onAlarm: (alarm) => alarms.push(alarm),
      ...options,
    },
    {
      "email.sent": () => undefined,
      "email.failed": (_event, { attempt }) => {
        if (attempt === 1) throw new Error("The first attempt fails.");
      },
    },
  );
  await clock.advance(AFTER_START_MS);
  return {
    clock,
    receiver,
    alarms,
    log,
    stop: () => closeReceiver(receiver, clock),
    nextRound: () => clock.advance(HOUR),
    /** A delivery of the service: of an event that has just happened, unless one is given. */
    deliver: async (event = makeEvent({ createdAt: isoTime(clock.now()) })) => {
      const { outcome } = await post(receiver, event);
      if (outcome === "accepted") await untilWork(receiver, event.id, { state: "done" });
      return { id: event.id, outcome, event };
    },
    isKnown: async (id: string) => (await receiver.inbox.get(id)) !== undefined,
    hasBody: async (id: string) => (await receiver.inbox.get(id))?.body instanceof Uint8Array,
  };
}

const isoTime = (ms: number): string => new Date(ms).toISOString();

describe("an id", () => {
  test.each<[string, (event: ReturnType<typeof makeEvent>) => ReturnType<typeof makeEvent>]>([
    ["of a known event", (event) => event],
    ["of one under a new id", (event) => ({ ...event, id: `${event.id}-replay` })],
    ["of a test delivery", () => makeEvent({ data: { test: true }, createdAt: isoTime(Date.UTC(2027, 5, 1)) })],
  ])("an id is not deleted because of a replay %s, signed with a clock that is ahead", async (_, replayOf) => {
    const { clock, deliver, isKnown, nextRound, receiver, alarms } = await start();
    const { id, event } = await deliver();
    clock.set(clock.now() + 400 * DAY);
    expect((await post(receiver, replayOf(event))).status).toBe(200);
    await nextRound();
    expect(await isKnown(id)).toBe(true);
    expect(alarms).toContainEqual({ kind: "clock_skew", skewSeconds: expect.closeTo(400 * 86_400, -2) });
  });
});

describe("a clock that is ahead by 400 days", () => {
  type Started = Awaited<ReturnType<typeof start>>;
  const freshEvent = (clock: FakeClock) => makeEvent({ createdAt: isoTime(clock.now()) });

  test.each<[string, (started: Started) => Promise<{ status: number }>, boolean]>([
    [
      "not confirmed, here or after a restart, by a delivery with the mark of one signed here",
      ({ receiver, clock }) => post(receiver, freshEvent(clock), { headers: { "x-pigeonhole-signed-here": "1" } }),
      false,
    ],
    [
      "not confirmed, here or after a restart, by a delivery of the test kit",
      ({ receiver, clock }) => deliverByKit(receiver, freshEvent(clock), { timestamp: clock.now() }),
      false,
    ],
    ["confirmed by a delivery of the service", ({ receiver, clock }) => post(receiver, freshEvent(clock)), true],
  ])("a clock that is ahead by 400 days is %s", async (_, send, isConfirmed) => {
    const file = tempFile();
    const first = await start({ file });
    const { clock } = first;
    const { id } = await first.deliver();
    clock.set(clock.now() + 400 * DAY);
    expect((await send(first)).status).toBe(200);
    await first.nextRound();
    expect(await first.isKnown(id)).toBe(!isConfirmed);
    await first.stop();

    const next = await start({ clock, file });
    await next.nextRound();
    expect(await next.isKnown(id)).toBe(!isConfirmed);
    expect(next.alarms.some(({ kind }) => kind === "clock_skew")).toBe(!isConfirmed);
    await next.deliver();
    await next.nextRound();
    expect(await next.isKnown(id)).toBe(false);
  });
});

describe("a clock that moves forward at once", () => {
  test.each([
    [DAY - HOUR, false],
    [DAY + HOUR, true],
    [400 * DAY, true],
  ])(
    "a clock that moves forward by %i ms drops nothing until a delivery confirms it, and raises clock_skew: %s",
    async (stepMs, isRaised) => {
      const { clock, deliver, hasBody, nextRound, alarms } = await start({ retention: { bodiesMs: 3 * HOUR } });
      const { id } = await deliver();
      clock.set(clock.now() + stepMs);
      await nextRound();
      expect(await hasBody(id)).toBe(true);
      const skews = alarms.filter(({ kind }) => kind === "clock_skew");
      expect(skews.length > 0).toBe(isRaised);
      if (isRaised) expect(skews[0]).toMatchObject({ skewSeconds: expect.closeTo(stepMs / 1_000, -2) });
      // A delivery confirms it.
      await deliver();
      await nextRound();
      expect(await hasBody(id)).toBe(false);
    },
  );

  test("the time that passes while a receiver runs counts without deliveries, whatever the clock shows", async () => {
    const { clock, deliver, hasBody, nextRound } = await start({ retention: { bodiesMs: 90 * MINUTE } });
    const { id } = await deliver();
    for (const stepMs of [400 * DAY, -400 * DAY]) {
      clock.set(clock.now() + stepMs);
      await nextRound();
      expect(await hasBody(id)).toBe(stepMs > 0);
    }
  });

  test.each([
    ["a day less an hour", DAY - HOUR, 0],
    ["400 days", 400 * DAY, 1],
  ])("a clock that moved forward by %s while the receiver was stopped drops nothing", async (_, stepMs, most) => {
    const file = tempFile();
    const first = await start({ file, retention: { bodiesMs: HOUR } });
    const { id } = await first.deliver();
    await first.stop();
    const { clock } = first;
    clock.set(clock.now() + stepMs);
    for (let round = 0; round < 2; round += 1) {
      const next = await start({ clock, file, retention: { bodiesMs: HOUR } });
      expect(next.alarms.filter(({ kind }) => kind === "clock_skew")).toHaveLength(most);
      expect(await next.hasBody(id)).toBe(true);
      await next.stop();
    }
  });
});

describe("a clock that was ahead and is set back", () => {
  const YEAR = 365 * DAY;

  async function startAhead(options: Given = {}) {
    const started = await start(options);
    const { clock, receiver } = started;
    const rightMs = clock.now();
    clock.set(rightMs + YEAR);
    const failed = await postEvent(receiver, { type: "email.failed" });
    await untilWork(receiver, failed.id, { state: "retrying", attempts: 1 }, "email.failed");
    return { ...started, failed: failed.id, setBack: () => clock.set(rightMs) };
  }

  test("a retry waits no longer than its own wait after a clock that was ahead is set back", async () => {
    const { clock, receiver, failed, setBack, log } = await startAhead({ retry: { initialMs: 60_000, jitter: 0 } });
    setBack();
    // Looked at every ten seconds; then the wait begins again.
    await clock.advance(11_000);
    const dueAt = (await workOf(receiver, failed, "email.failed"))?.dueAt;
    const dueInMs = Date.parse(dueAt ?? "") - clock.now();
    expect(dueInMs).toBeGreaterThan(49_000);
    expect(dueInMs).toBeLessThanOrEqual(60_000);
    await clock.advance(62_000);
    await untilWork(receiver, failed, { state: "done", attempts: 2 }, "email.failed");
    expect(log.named("clock_was_ahead")).toEqual([expect.objectContaining({ waits: 1 })]);
  });

  test("a retry waits no longer than its own wait if the clock was set back while the receiver was stopped", async () => {
    const file = tempFile();
    const first = await startAhead({ file, retry: { initialMs: 60_000, jitter: 0 } });
    await first.stop();
    first.setBack();
    const { clock, receiver } = await start({ clock: first.clock, file });
    expect(await workOf(receiver, first.failed, "email.failed")).toMatchObject({ state: "retrying" });
    await clock.advance(62_000);
    await untilWork(receiver, first.failed, { state: "done", attempts: 2 }, "email.failed");
  });

  test("a receiver reports the lag of late work after a clock that was ahead is set back", async () => {
    const file = tempFile();
    const { clock, stop, setBack } = await startAhead({ file });
    await stop();
    setBack();
    const receiver = await startReceiver({ clock, store: storeIn(file) });
    await clock.advance(5 * MINUTE);
    expect(await receiver.stats()).toMatchObject({ retrying: 1, lagMs: expect.closeTo(5 * MINUTE - 10_000, -4) });
  });

  test("the alarm of silence is not delayed by a clock that was ahead and is set back", async () => {
    const { clock, alarms, deliver } = await start({ silenceAfterMs: 10 * MINUTE });
    clock.set(clock.now() + 30 * DAY);
    await deliver();
    clock.set(clock.now() - 30 * DAY);
    await clock.advance(21 * MINUTE);
    expect(alarms.map(({ kind }) => kind)).toContain("silence");
  });
});

test("a contact event that was sent is kept past its limit until the API confirms the time", async () => {
  const world = fakeClock();
  const sandbox = createSandbox({ clock: world, receive: () => new Response() });
  onTestFinished(() => sandbox.close());
  const { clock, receiver, nextRound } = await start({ api: sandbox.clientOptions });
  const sendOne = async (name: string): Promise<void> => {
    await receiver.contactEvents.record({ name, email: "ada@example.com", createContact: true });
    // The client is loaded with its first call, in no time of these clocks.
    await expect
      .poll(async () => {
        await Promise.all([clock.advance(1_000), world.advance(1_000)]);
        return (await receiver.contactEvents.list()).items[0];
      })
      .toMatchObject({ state: "done" });
  };
  const names = async (): Promise<string[]> =>
    (await receiver.contactEvents.list()).items.map(({ body }) => (JSON.parse(body) as { name: string }).name);

  await sendOne("old");
  await sendOne("newer");
  clock.set(clock.now() + 95 * DAY);
  await nextRound();
  expect(await names()).toEqual(["newer", "old"]);
  await world.advance(95 * DAY + HOUR);
  await sendOne("newest");
  await nextRound();
  expect(await names()).toEqual(["newest"]);
});
