import { describe, expect, test } from "vitest";
import { PigeonholeError } from "pigeonhole";
import { partsOf } from "#pigeonhole/receiver/receiver-parts.js";
import { decorateStore, makeEvent } from "../support/receiver.js";
import { startWithAlarms } from "../support/alarms.js";
import { operatedBy } from "../support/operate.js";

const OTHER_SECRET = `whsec_${"z".repeat(43)}`;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe("the kinds of alarm", () => {
  test.each([
    [-301, 301],
    [301, -301],
    [-86_400, 86_400],
  ])("the alarm clock_skew has the seconds between the clocks (%i)", async (signedAgo, skewSeconds) => {
    const { alarms, clock, deliver } = await startWithAlarms();
    expect(await deliver(makeEvent(), { at: clock.now() + signedAgo * 1_000 })).toBe("unverified");
    expect(alarms).toEqual([{ kind: "clock_skew", skewSeconds }]);
  });

  test("the alarm store_unavailable has the store's code and, for our own errors only, the message", async () => {
    const failures: unknown[] = [
      new PigeonholeError("store_full", "The disk is full."),
      new TypeError("canary@example.com"),
    ];
    const store = decorateStore(() => ({ accept: () => Promise.reject(failures.shift()) }));
    const { alarms, clock, deliver } = await startWithAlarms({ store });
    await deliver();
    await clock.advance(MINUTE);
    await deliver();
    expect(alarms).toEqual([
      { kind: "store_unavailable", code: "store_full", message: "The disk is full." },
      { kind: "store_unavailable", code: "store_failed", message: "TypeError" },
    ]);
  });

  test("an alarm is logged as an error with advice, and is logged and called once a minute for each kind", async () => {
    const { alarms, clock, log, deliver } = await startWithAlarms();
    const skewed = () => deliver(makeEvent(), { at: clock.now() - 400_000 });
    const event = makeEvent();
    await deliver(event);
    await skewed();
    await skewed();
    await deliver({ ...event, data: { n: 1 } });
    expect(alarms.map(({ kind }) => kind)).toEqual(["clock_skew", "other_bytes"]);
    await clock.advance(MINUTE - 1);
    await skewed();
    expect(alarms).toHaveLength(2);
    await clock.advance(1);
    await skewed();
    await skewed();
    expect(alarms.map(({ kind }) => kind)).toEqual(["clock_skew", "other_bytes", "clock_skew"]);
    const lines = log.named("alarm");
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatchObject({ level: 50, alarm: "clock_skew", skewSeconds: 400 });
    expect(lines[0]?.["advice"]).toContain("clock");
  });

  test("an alarm is raised again at once if the clock was set back", async () => {
    const { alarms, clock, deliver } = await startWithAlarms();
    await deliver(makeEvent(), { at: clock.now() - 400_000 });
    clock.set(clock.now() - 24 * HOUR);
    await deliver(makeEvent(), { at: clock.now() - 400_000 });
    expect(alarms).toHaveLength(2);
  });

  test.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("canary@example.com");
      },
    ],
    ["rejects", () => Promise.reject(new Error("canary@example.com"))],
  ])("an alarm whose hook %s does no harm, and the log says so", async (_, onAlarm) => {
    const { clock, log, deliver } = await startWithAlarms({ onAlarm });
    expect(await deliver(makeEvent(), { at: clock.now() - 400_000 })).toBe("unverified");
    await expect.poll(() => log.named("alarm_hook_threw")).toEqual([expect.objectContaining({ alarm: "clock_skew" })]);
    expect(JSON.stringify(log.lines)).not.toContain("canary");
    expect(await deliver()).toBe("accepted");
  });
});

describe("the alarm work_parked", () => {
  test("parked work whose list cannot be read is reported a minute later, and its end is logged", async () => {
    let failures = 1;
    const store = decorateStore((real) =>
      operatedBy(real, (inbox) => ({
        listEvents: (query) => ((failures -= 1) >= 0 ? Promise.reject(new Error("away")) : inbox.listEvents(query)),
      })),
    );
    const { alarms, clock, log, receiver, deliver } = await startWithAlarms({ store });
    await deliver("parked");
    await clock.advance(MINUTE);
    expect(alarms).toEqual([]);
    await clock.advance(MINUTE);
    expect(alarms).toEqual([{ kind: "work_parked", reason: "not_json", types: [], parked: 1 }]);
    const { alarms: raised } = partsOf(receiver).path.report;
    await clock.advance(11 * MINUTE);
    expect(raised.recent).toHaveLength(1);
    const [parked] = (await receiver.inbox.list({ state: "parked" })).items;
    await receiver.inbox.discard(parked?.id ?? "");
    await clock.advance(2 * MINUTE);
    expect(raised.recent).toEqual([]);
    expect(log.named("alarm_over")).toEqual([expect.objectContaining({ level: 30, alarm: "work_parked" })]);
  });
});

describe("the alarm silence", () => {
  test("the alarm silence is raised when nothing was accepted for the given time, and again after the same time", async () => {
    const { alarms, clock } = await startWithAlarms({ silenceAfterMs: 3 * MINUTE });
    await clock.advance(3 * MINUTE - 1);
    expect(alarms).toEqual([]);
    await clock.advance(1);
    expect(alarms).toEqual([{ kind: "silence", sinceMs: 3 * MINUTE }]);
    await clock.advance(3 * MINUTE);
    expect(alarms).toEqual([
      { kind: "silence", sinceMs: 3 * MINUTE },
      { kind: "silence", sinceMs: 6 * MINUTE },
    ]);
  });

  test("the alarm silence is delayed by accepted and parked deliveries, not by refused ones", async () => {
    const { alarms, clock, deliver } = await startWithAlarms({ silenceAfterMs: 6 * MINUTE });
    await clock.advance(4 * MINUTE);
    await deliver();
    await clock.advance(4 * MINUTE);
    await deliver("parked");
    await clock.advance(5 * MINUTE);
    const parked = { kind: "work_parked", reason: "not_json", types: [], parked: 1 };
    expect(alarms).toEqual([parked]);
    await deliver(makeEvent(), { secret: OTHER_SECRET });
    await clock.advance(MINUTE);
    expect(alarms).toEqual([parked, { kind: "silence", sinceMs: 6 * MINUTE }]);
  });

  test("the alarm silence is not raised without the option, nor after stop()", async () => {
    const quiet = await startWithAlarms();
    await quiet.clock.advance(6 * MINUTE);
    expect(quiet.alarms).toEqual([]);
    const stopped = await startWithAlarms({ silenceAfterMs: 6 * MINUTE });
    await stopped.receiver.stop();
    await stopped.clock.advance(12 * MINUTE);
    expect(stopped.alarms).toEqual([]);
  });
});
