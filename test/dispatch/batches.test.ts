import { describe, expect, test } from "vitest";
import {
  type AnyEvent,
  type BatchContext,
  type BatchOptions,
  DoNotRetry,
  PigeonholeError,
  type ReceiverOptions,
  RetryAfter,
  type Store,
} from "pigeonhole";
import { createSandbox } from "pigeonhole/sandbox";
import { deliver, fakeClock, sampleEvent } from "pigeonhole/testing";
import { findParts } from "#pigeonhole/receiver/receiver-parts.js";
import type { Lease } from "#pigeonhole/store/work.js";
import { makeCrashedFile } from "../support/crashed-file.js";
import { endOfTurn } from "../support/end-of-turn.js";
import {
  captureLog,
  closeReceiver,
  decorateStore,
  effectsIn,
  makeEvent,
  makeGate,
  openReceiver,
  post,
  storeIn,
  tempFileWithTable,
  workOf,
} from "../support/receiver.js";

type Run = (events: readonly AnyEvent[], ctx: BatchContext) => unknown;

const fail = (): never => {
  throw new Error("not now");
};

/** Of a store that several processes share. */
const glance: Store["glance"] = ({ handlers }) =>
  Promise.resolve({ due: [...handlers], paused: [], requested: false, contactEvents: false, orphans: false });

/** The code of what it throws. */
const codeOf = (call: () => void): unknown => {
  try {
    call();
  } catch (error) {
    return (error as PigeonholeError).code;
  }
  return undefined;
};

/** A receiver with one handler of batches, which notes the ids of each. */
async function open(
  options: BatchOptions = {},
  run: Run = () => undefined,
  more: Partial<ReceiverOptions<Record<never, never>>> = {},
) {
  const clock = fakeClock();
  const receiver = openReceiver({ clock, random: () => 0.5, ...more });
  const batches: string[][] = [];
  receiver.onBatch(
    "email.sent",
    (events, ctx) => {
      batches.push(events.map(({ id }) => id));
      return run(events, ctx);
    },
    options,
  );
  await receiver.start();
  const send = async (count: number): Promise<string[]> => {
    const events = Array.from({ length: count }, () => makeEvent());
    for (const event of events) await post(receiver, event);
    await endOfTurn();
    return events.map(({ id }) => id);
  };
  const states = async (ids: readonly string[]): Promise<unknown[]> => {
    const works = await Promise.all(ids.map((id) => workOf(receiver, id)));
    return works.map((work) => [work?.state, work?.attempts, work?.error]);
  };
  /** Waits until the work of these events looks so: state, attempts and error. */
  const settled = (ids: readonly string[], expected: readonly unknown[]) =>
    expect.poll(() => states(ids)).toEqual(expected);
  return { clock, receiver, batches, send, settled };
}

const DONE = ["done", 1, null];
const FAILED = ["retrying", 1, "Error: not now"];
const LATE = ["retrying", 1, 'PigeonholeError: Handler "email.sent" took longer than its timeoutMs of 1000.'];

describe("when a batch begins", () => {
  test("a batch begins at once when it is full, and the rest waits", async () => {
    const { batches, send, settled, clock } = await open({ max: 3 });
    const ids = await send(4);
    expect(batches).toEqual([ids.slice(0, 3)]);
    await clock.advance(499);
    expect(batches).toHaveLength(1);
    await clock.advance(1);
    expect(batches).toEqual([ids.slice(0, 3), ids.slice(3)]);
    await settled(ids, [DONE, DONE, DONE, DONE]);
  });

  test("a batch begins when its first event has waited for long enough, and says meanwhile that it waits", async () => {
    const { batches, send, clock, receiver } = await open({ wait: "200ms" });
    const first = await send(1);
    await clock.advance(150);
    const second = await send(1);
    expect(batches).toEqual([]);
    expect((await receiver.stats()).waitsFor).toEqual({ "email.sent": "batch" });
    await clock.advance(50);
    expect(batches).toEqual([[...first, ...second]]);
  });

  test("an event that waits for its batch is running in the inbox, and says what it waits for", async () => {
    const run = (events: readonly AnyEvent[], ctx: BatchContext): void => {
      for (const event of events) if (ctx.of(event).attempt < 2) throw new Error("not now");
    };
    const options = { wait: "60s", retry: { initialMs: 0, jitter: 0 } } as const;
    const { receiver, send, clock, settled } = await open(options, run);
    const [id = ""] = await send(1);
    const state = "running";
    for (const attempts of [1, 2]) {
      // Each process says within ten seconds what its work waits for.
      await clock.advance(15_000);
      const handlers = [{ state, attempts, waitsFor: "batch" }];
      await expect.poll(() => receiver.inbox.get(id)).toMatchObject({ state, handlers });
      const listed = { items: [{ id, state, handlers }] };
      expect(await receiver.inbox.list({ state })).toMatchObject(listed);
      expect(await receiver.inbox.list({ handler: "email.sent" })).toMatchObject(listed);
      expect(await receiver.inbox.list({ state: "pending" })).toMatchObject({ items: [] });
      await clock.advance(46_000);
    }
    await settled([id], [["done", 2, null]]);
    expect(await workOf(receiver, id)).toMatchObject({ waitsFor: null });
  });

  test.each([1, 2])(
    "with a concurrency of %s, as many batches run at once, and the others wait",
    async (concurrency) => {
      const gate = makeGate();
      const { batches, send } = await open({ max: 2, concurrency }, () => gate.passed);
      const ids = await send(6);
      expect(batches).toHaveLength(concurrency);
      gate.open();
      await expect.poll(() => batches).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    },
  );

  test("a batch is as large as it may be from what waits in the store", async () => {
    // More than a page of the store has, and more than a handler leases ahead that shares its store.
    const shared = { role: "accept", store: decorateStore(() => ({ glance })) } as const;
    const { send, batches, receiver } = await open({ max: 130 }, () => undefined, shared);
    const ids = await send(140);
    await receiver.drain();
    expect(batches).toEqual([ids.slice(0, 130), ids.slice(130)]);
  });

  test("behind its slow batches, a process leases nothing that another one could run", async () => {
    let releases = 0;
    const store = decorateStore((real) => ({
      glance,
      release(leases, now) {
        releases += leases.length;
        return real.release(leases, now);
      },
    }));
    const { send, batches, clock } = await open(
      { max: 10 },
      () => new Promise<void>((end) => clock.setTimer(end, 10_000)),
      {
        store,
      },
    );
    const ids = await send(40);
    await clock.advance(30_000);
    expect(batches).toEqual([0, 10, 20, 30].map((from) => ids.slice(from, from + 10)));
    // Once, before it knows how slow they are.
    expect(releases).toBe(10);
    await clock.advance(10_000);
    const few = await send(3);
    await clock.advance(500);
    const more = await send(8);
    await clock.advance(10_500);
    expect(batches.slice(4)).toEqual([few, more]);
    expect(releases).toBe(10);
  });

  test.each(["accept", "both"] as const)("a drain begins a batch with what is due, in role %s", async (role) => {
    const { send, batches, receiver } = await open({ max: 3, wait: "1m" }, () => undefined, { role });
    const ids = await send(4);
    expect(await receiver.drain()).toMatchObject({ drained: true });
    expect(batches).toEqual([ids.slice(0, 3), ids.slice(3)]);
  });
});

describe("how a batch ends", () => {
  /** Fails the first so many of its events alone. */
  const failFirst = (events: readonly AnyEvent[], ctx: BatchContext, count: number, error = new Error("not now")) => {
    for (const event of events.slice(0, count)) ctx.fail(event, error);
  };
  const commit = (events: readonly AnyEvent[], ctx: BatchContext, end?: () => void) =>
    ctx.commit(({ db }) => {
      for (const { id } of events) db.prepare("INSERT INTO effect VALUES (?)").run(id);
      end?.();
    });

  /** States of its three events in the end, and how many of the last of them are written. */
  test.each<[string, Run, unknown[], number]>([
    ["commits", (events, ctx) => commit(events, ctx), [DONE, DONE, DONE], 3],
    ["throws", fail, [FAILED, FAILED, FAILED], 0],
    ["throws inside its commit", (events, ctx) => commit(events, ctx, fail), [FAILED, FAILED, FAILED], 0],
    ["fails one event alone", (events, ctx) => failFirst(events, ctx, 1), [FAILED, DONE, DONE], 0],
    [
      "fails one event alone and commits",
      (events, ctx) => (failFirst(events, ctx, 1), commit(events.slice(1), ctx)),
      [FAILED, DONE, DONE],
      2,
    ],
    [
      "fails all events alone and commits, which calls no function",
      (events, ctx) => (failFirst(events, ctx, 3), ctx.commit(() => expect.unreachable())),
      [FAILED, FAILED, FAILED],
      0,
    ],
    [
      "fails one event alone for good, and then all",
      (events, ctx) => (failFirst(events, ctx, 1, new DoNotRetry("never")), fail()),
      [["dead", 1, "DoNotRetry: never"], FAILED, FAILED],
      0,
    ],
    ["takes too long, and is aborted", () => new Promise(() => undefined), [LATE, LATE, LATE], 0],
  ])("a batch whose handler %s: what has failed runs again together", async (_, run, expected, written) => {
    const file = tempFileWithTable();
    const signals: AbortSignal[] = [];
    const first: Run = (events, ctx) => (signals.push(ctx.signal) === 1 ? run(events, ctx) : undefined);
    const options = { max: 3, timeoutMs: 1_000 };
    const { send, settled, clock, batches } = await open(options, first, { store: storeIn(file) });
    const ids = await send(3);
    await clock.advance(1_000);
    await settled(ids, expected);
    expect(signals[0]?.aborted).toBe(expected.includes(LATE));
    expect(effectsIn(file)).toEqual(written === 0 ? [] : ids.slice(-written));
    await clock.advance(11_000);
    const again = ids.filter((_id, index) => expected[index] === FAILED || expected[index] === LATE);
    expect(batches).toEqual(again.length === 0 ? [ids] : [ids, again]);
    await settled(
      again,
      again.map(() => ["done", 2, null]),
    );
  });

  /** How long its events wait, how many attempts they may have, and what they are when their next run has failed. */
  test.each<[string, Run, number, number, unknown[]]>([
    ["asks for a wait", () => Promise.reject(new RetryAfter("busy", 60_000)), 60_000, 2, ["retrying", 2]],
    ["commits into a store that fails", (_, ctx) => ctx.commit(() => undefined), 0, 2, ["retrying", 1]],
    // A stop counts as an attempt, and never as the last one.
    ["is ended by a stop", () => new Promise(() => undefined), 0, 1, ["dead", 2]],
  ])("a batch that %s does not use up the attempts of its events", async (_, run, waitMs, maxAttempts, then) => {
    const [file, options] = [tempFileWithTable(), { max: 2, retry: { maxAttempts } }] as const;
    const commit = () => Promise.reject(new PigeonholeError("store_unreachable", "no answer from the server"));
    const { receiver, clock, send } = await open(options, run, { store: decorateStore(() => ({ commit }), file) });
    const ids = await send(2);
    await closeReceiver(receiver, clock);
    const begun: number[] = [];
    const { settled } = await open(options, () => (begun.push(clock.elapsedMs), fail()), {
      store: storeIn(file),
      clock,
    });
    await clock.advance(waitMs + 1_000);
    await settled(
      ids,
      ids.map(() => [...then, "Error: not now"]),
    );
    expect(begun).toEqual([expect.closeTo(waitMs, -3)]);
  });

  test("of the events of a batch that fails, those are dead whose own attempts are spent", async () => {
    const { send, settled, clock, batches } = await open({ max: 2, retry: { maxAttempts: 2 } }, () => fail());
    const [first = ""] = await send(1);
    await clock.advance(500);
    await settled([first], [FAILED]);
    await clock.advance(9_999);
    const [second = ""] = await send(1);
    await clock.advance(1);
    await settled([first, second], [["dead", 2, "Error: not now"], FAILED]);
    expect(batches).toEqual([[first], expect.arrayContaining([first, second])]);
  });

  test("RetryAfter of one event can hold the handler", async () => {
    const { send, batches, clock, receiver } = await open({ max: 2 }, (events, ctx) => {
      const [, second] = events;
      if (second !== undefined) ctx.fail(second, new RetryAfter("busy", 60_000, { holds: "handler" }));
    });
    await send(2);
    await send(2);
    await clock.advance(59_000);
    expect(batches).toHaveLength(1);
    expect((await receiver.stats()).waitsFor).toEqual({ "email.sent": "retry_after" });
    await clock.advance(2_000);
    await expect.poll(() => batches.length).toBeGreaterThan(1);
  });

  test("of two waits that hold the handler, the longer one counts before the store knows of them", async () => {
    const gate = makeGate();
    const store = decorateStore((real) => ({
      settle: (settlement) => gate.passed.then(() => real.settle(settlement)),
    }));
    const run: Run = (events, ctx) => {
      for (const [index, event] of events.entries())
        ctx.fail(event, new RetryAfter("busy", (index + 1) * 30_000, { holds: "handler" }));
    };
    const { send, batches, clock } = await open({ max: 2 }, run, { store });
    await send(4);
    await clock.advance(40_000);
    const begun = batches.length;
    gate.open();
    expect(begun).toBe(1);
  });

  test("where a lease is lost under the commit, no event is done, and all run again at their first attempt", async () => {
    const { logger, lines } = captureLog();
    let isLost = true;
    const store = decorateStore((real) => ({
      commit(settlements, fn) {
        if (!isLost) return real.commit(settlements, fn);
        isLost = false;
        const [first, ...others] = [settlements].flat();
        return real.commit([...others, { ...(first ?? expect.unreachable()), token: 0 }], fn);
      },
    }));
    const { send, settled, clock, batches } = await open({ max: 2 }, (_, ctx) => ctx.commit(() => undefined), {
      store,
      logger,
    });
    const ids = await send(2);
    await expect
      .poll(() => lines.filter(({ msg }) => msg === "lease_lost"))
      .toMatchObject(ids.map((eventId) => ({ eventId })));
    await clock.advance(2_000);
    await settled(ids, [DONE, DONE]);
    expect(batches).toEqual([ids, ids]);
  });

  test("where a lease is lost while the handler runs, the batch is aborted, and the others run again without it", async () => {
    let lost: Lease | undefined;
    const store = decorateStore((real) => ({
      async renew(leases, until) {
        const [first] = leases;
        if (lost !== undefined || first === undefined) return real.renew(leases, until);
        lost = first;
        return [first];
      },
    }));
    const aborted: unknown[] = [];
    const late: (() => void)[] = [];
    const { send, settled, clock, batches, receiver } = await open(
      { max: 3 },
      ([, second = expect.unreachable()], { signal, fail: failOne, of }) => {
        if (lost !== undefined) return undefined;
        late.push(() => failOne(second, "late"));
        late.push(() => of(second).contactEvents.record({ name: "sent", email: "ann@example.com" }));
        return new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => (aborted.push(signal.reason), reject(new Error("aborted"))));
        });
      },
      { store, api: createSandbox({ clock: fakeClock() }).clientOptions },
    );
    const [first = "", ...others] = await send(3);
    await clock.advance(22_000);
    expect(aborted).toMatchObject([{ code: "lease_lost" }]);
    await settled([first, ...others], [["running", 1, null], DONE, DONE]);
    expect(batches).toEqual([[first, ...others], others]);
    expect(findParts(receiver)?.path.dispatcher.outcomes).toMatchObject({ done: 2, lost: 3, interrupted: 0 });
    expect(late.map(codeOf)).toEqual(["run_ended", "run_ended"]);
  });
});

describe("work that processes died in", () => {
  test.each([1, 2])("an event in which %s processes died runs alone, and the others in a batch", async (deaths) => {
    const crashing = makeEvent();
    const file = await makeCrashedFile(crashing, "email.sent", deaths);
    const { batches, send, clock } = await open({ max: 3 }, () => undefined, { store: storeIn(file) });
    const ids = await send(2);
    await clock.advance(1_000);
    await expect.poll(() => batches).toEqual([[crashing.id], ids]);
  });
});

describe("the context of a batch", () => {
  test("each event has its attempt, its delivery, its keys and its contact events", async () => {
    const clock = fakeClock();
    const sandbox = createSandbox({ clock });
    const keys: Record<string, string> = {};
    const seen: unknown[] = [];
    const { receiver, send, settled } = await open(
      { max: 2 },
      async (events, ctx) => {
        for (const event of events) {
          const { attempt, delivery, idempotencyKey, contactEvents } = ctx.of(event);
          seen.push([attempt, JSON.parse(Buffer.from(delivery.rawBody).toString()).id]);
          keys[event.id] = idempotencyKey("mail");
          contactEvents.record({
            name: "sent",
            email: "ann@example.com",
            createContact: true,
            properties: { id: event.id },
          });
        }
        await ctx.commit(() => undefined);
      },
      { api: sandbox.clientOptions },
    );
    const ids = await send(2);
    await settled(ids, [DONE, DONE]);
    expect(seen).toEqual(ids.map((id) => [1, id]));
    expect(new Set(Object.values(keys)).size).toBe(2);
    const { items } = await receiver.contactEvents.list({});
    expect(new Set(items.map(({ inboxEventId }) => inboxEventId))).toEqual(new Set(ids));
  });

  test.each<[string, Run]>([
    ["another object", (_, ctx) => ctx.fail({ ...makeEvent(), known: false, test: false }, "no")],
    ["a copy", ([first], ctx) => ctx.of({ ...(first ?? expect.unreachable()) })],
    [
      "an event after the commit",
      async ([first], ctx) => {
        await ctx.commit(() => undefined);
        ctx.fail(first ?? expect.unreachable(), "no");
      },
    ],
  ])("%s is refused", async (_, run) => {
    const errors: unknown[] = [];
    const { send } = await open({ max: 1 }, async (events, ctx) => {
      await Promise.resolve(events)
        .then((given) => run(given, ctx))
        .catch((error: unknown) => errors.push(error));
    });
    await send(1);
    await expect.poll(() => errors).toMatchObject([{ code: "invalid_argument" }]);
  });

  test("a contact event after the commit, and a failure after the run, are refused", async () => {
    const codes: unknown[] = [];
    let late = (): void => undefined;
    const sandbox = createSandbox({ clock: fakeClock() });
    const { send, settled } = await open(
      { max: 2 },
      (events, ctx) => {
        const [, second = expect.unreachable()] = events;
        late = () => ctx.fail(second, "late");
        const committed = ctx.commit(() => undefined);
        codes.push(codeOf(() => ctx.of(second).contactEvents.record({ name: "sent", email: "ann@example.com" })));
        return committed;
      },
      { api: sandbox.clientOptions },
    );
    await settled(await send(2), [DONE, DONE]);
    codes.push(codeOf(late));
    expect(codes).toEqual(["invalid_argument", "run_ended"]);
  });
});

describe("deliver", () => {
  test("deliver gives a batch all events at once, and the result of each", async () => {
    const { receiver, batches, clock } = await open({}, ([first], ctx) =>
      ctx.fail(first ?? expect.unreachable(), "no"),
    );
    const events = [1, 2, 3].map(() => sampleEvent("email.sent"));
    const delivered = await deliver(receiver, events, { timestamp: clock.now() });
    expect(delivered.map(({ handlers }) => handlers.map(({ state }) => state))).toEqual([
      ["retrying"],
      ["done"],
      ["done"],
    ]);
    expect(batches).toEqual([events.map(({ id }) => id)]);
    expect(await deliver(receiver, [], { timestamp: clock.now() })).toEqual([]);
  });

  test("deliver gives a batch a single event without a wait", async () => {
    const { receiver, clock } = await open({ wait: "1m" });
    const delivered = await deliver(receiver, sampleEvent("email.sent"), { timestamp: clock.now() });
    expect(delivered.handlers).toMatchObject([{ state: "done" }]);
  });
});
