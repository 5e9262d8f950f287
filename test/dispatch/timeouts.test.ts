import { isoTime } from "#pigeonhole/base/iso-time.js";
import { describe, expect, test } from "vitest";
import type { HandlerContext, ReceiverOptions } from "pigeonhole";
import { fakeClock } from "pigeonhole/testing";
import { type Gate, makeGate } from "../support/gate.js";
import { decorateStore, effectsIn, storeIn, tempFileWithTable } from "../support/store-in.js";
import { openReceiver, untilWork, workOf } from "../support/receiver.js";
import { postEvent } from "../support/start-receiver.js";

/** Delivers one event to one handler with this `timeoutMs`. */
async function runOne(
  handler: (ctx: HandlerContext) => unknown,
  timeoutMs: number | undefined,
  options: Partial<ReceiverOptions<Record<never, never>>> = {},
) {
  const clock = fakeClock();
  const receiver = openReceiver({ clock, random: () => 0.5, ...options });
  receiver.on("email.sent", (_, ctx) => handler(ctx), { timeoutMs });
  await receiver.start();
  return { clock, receiver, event: await postEvent(receiver) };
}

describe("a handler that takes longer than timeoutMs", () => {
  test("a handler that takes longer than timeoutMs is aborted at that moment, counts as failed and runs again", async () => {
    const signals: AbortSignal[] = [];
    const { clock, receiver, event } = await runOne((ctx) => {
      signals.push(ctx.signal);
      return signals.length === 1 ? new Promise(() => undefined) : undefined;
    }, 2_000);
    await expect.poll(() => signals.length).toBe(1);
    await clock.advance(1_999);
    expect(signals[0]?.aborted).toBe(false);
    expect(await workOf(receiver, event.id)).toMatchObject({ state: "running" });
    await clock.advance(1);
    expect(signals[0]?.aborted).toBe(true);
    expect(signals[0]?.reason).toMatchObject({ code: "handler_timeout" });
    await untilWork(receiver, event.id, { state: "retrying", attempts: 1, dueAt: isoTime(clock.now() + 10_000) });
    expect((await workOf(receiver, event.id))?.error).toContain("timeoutMs of 2000");
    await clock.advance(10_000);
    await untilWork(receiver, event.id, { state: "done", attempts: 2 });
    expect(signals[1]?.aborted).toBe(false);
  });

  test.each([-3_600_000, 3_600_000])(
    "a handler is aborted after timeoutMs even if the clock is set by %i ms meanwhile",
    async (jump) => {
      let signal: AbortSignal | undefined;
      const { clock } = await runOne((ctx) => {
        signal ??= ctx.signal;
        return new Promise(() => undefined);
      }, 2_000);
      await expect.poll(() => signal).toBeDefined();
      await clock.advance(500);
      clock.set(clock.now() + jump);
      await clock.advance(1_499);
      expect(signal?.aborted).toBe(false);
      await clock.advance(1);
      expect(signal?.aborted).toBe(true);
    },
  );

  test("a run whose lease is lost is aborted, and its end changes nothing", async () => {
    const gate = makeGate();
    let signal: AbortSignal | undefined;
    const store = decorateStore(() => ({ renew: (leases) => Promise.resolve([...leases]) }));
    const run = (ctx: HandlerContext) => (({ signal } = ctx), gate.passed);
    const { clock, receiver, event } = await runOne(run, 60_000, { store });
    await expect.poll(() => signal).toBeDefined();
    await clock.advance(20_000);
    await expect.poll(() => signal?.aborted).toBe(true);
    expect(signal?.reason).toMatchObject({ code: "lease_lost" });
    gate.open();
    await clock.advance(1_000);
    // As its new holder has it.
    expect(await workOf(receiver, event.id)).toMatchObject({ state: "running" });
  });

  test("a handler that reads the signal only after the timeout finds it aborted", async () => {
    const gate = makeGate();
    let seen: AbortSignal | undefined;
    const { clock, receiver, event } = await runOne(async (ctx) => {
      if (ctx.attempt > 1) return;
      await gate.passed;
      seen = ctx.signal;
    }, 1_000);
    await expect.poll(async () => (await workOf(receiver, event.id))?.state).toBe("running");
    await clock.advance(1_000);
    await untilWork(receiver, event.id, { state: "retrying" });
    gate.open();
    await expect.poll(() => seen?.aborted).toBe(true);
    expect(seen?.reason).toMatchObject({ code: "handler_timeout" });
  });
});

describe("a handler that ignores the signal", () => {
  interface Late {
    commit: unknown;
    step: unknown;
  }
  type Moment = "before the next attempt" | "while the next attempt runs" | "after the next attempt is done";

  test.each<Moment>(["before the next attempt", "while the next attempt runs", "after the next attempt is done"])(
    "a handler that ignores the signal cannot settle or write %s",
    async (moment) => {
      const file = tempFileWithTable();
      const first: Gate = makeGate();
      const second: Gate = makeGate();
      const late: Late[] = [];
      const options = { store: storeIn(file), retry: { initialMs: 1_000 } };
      const { clock, receiver, event } = await runOne(
        async (ctx) => {
          const write = (what: string) =>
            ctx.commit(({ db }) => void db.prepare("INSERT INTO effect VALUES (?)").run(what));
          if (ctx.attempt > 1) {
            await second.passed;
            return write("second");
          }
          await first.passed;
          const codeOf = (error: unknown) => (error as { code?: string }).code;
          const step = await ctx.step("late", () => 1).catch(codeOf);
          const commit = await write("late").catch(codeOf);
          late.push({ step, commit });
        },
        1_000,
        options,
      );
      await untilWork(receiver, event.id, { state: "running", attempts: 1 });
      await clock.advance(1_000);
      await untilWork(receiver, event.id, { state: "retrying", attempts: 1 });

      const beLate = async () => {
        first.open();
        await expect.poll(() => late).toEqual([{ step: "lease_lost", commit: "lease_lost" }]);
        expect(effectsIn(file)).toEqual(moment === "after the next attempt is done" ? ["second"] : []);
      };
      if (moment === "before the next attempt") await beLate();
      await clock.advance(1_000);
      await untilWork(receiver, event.id, { state: "running", attempts: 2 });
      if (moment === "while the next attempt runs") await beLate();
      second.open();
      await untilWork(receiver, event.id, { state: "done", attempts: 2 });
      if (moment === "after the next attempt is done") await beLate();
      expect(effectsIn(file)).toEqual(["second"]);
      expect(await workOf(receiver, event.id)).toMatchObject({ state: "done", attempts: 2 });
    },
  );
});

test("a commit that is under way at the timeout still decides that the work is done", async () => {
  const file = tempFileWithTable();
  const { clock, receiver, event } = await runOne(
    async (ctx) => {
      await ctx.commit(({ db }) => void db.exec("INSERT INTO effect VALUES ('once')"));
      await new Promise(() => undefined);
    },
    1_000,
    { store: storeIn(file) },
  );
  await expect.poll(() => effectsIn(file)).toEqual(["once"]);
  await clock.advance(1_000);
  await untilWork(receiver, event.id, { state: "done", attempts: 1 });
  expect(effectsIn(file)).toEqual(["once"]);
});
