import { DoNotRetry, type HandlerContext } from "pigeonhole";
import { describe, expect, expectTypeOf, test } from "vitest";
import { errorOf } from "../support/error-of.js";
import { closeReceiver, untilWork, workOf } from "../support/receiver.js";
import { decorateStore, storeIn, tempFile } from "../support/store-in.js";
import { deliverOne } from "./deliver-one.js";
import type { OnceInput } from "#pigeonhole/dispatch/steps.js";
import { startReceiver } from "../support/start-receiver.js";

/** Another system, in which things are made under ids that it chooses. */
function openShop() {
  const things: { id: number; mark: string }[] = [];
  const calls: string[] = [];
  const input = (mark: string): OnceInput<{ id: number }> => ({
    find: () => {
      calls.push("find");
      return things.find((thing) => thing.mark === mark);
    },
    create: () => {
      calls.push("create");
      const thing = { id: things.length + 1, mark };
      things.push(thing);
      return thing;
    },
  });
  /** Makes the thing and does not say so. */
  const lost = (mark: string): OnceInput<{ id: number }> => ({
    ...input(mark),
    create: () => {
      void input(mark).create();
      throw new Error("The answer was lost.");
    },
  });
  return { things, calls, input, lost };
}

/** What a run does: it fails before the call, finds nothing out, loses the answer, or makes the thing. */
type Play = "fails before" | "search is away" | "answer lost" | "made, then fails" | "made";

describe("ctx.once", () => {
  test.each<[string, Play[], string[]]>([
    ["creates without a look, and later runs get what was kept", ["made, then fails", "made"], ["create"]],
    [
      "is looked for when the answer was lost, and kept",
      ["answer lost", "made, then fails", "made"],
      ["create", "find"],
    ],
    ["is looked for after a run that failed before, and created", ["fails before", "made"], ["find", "create"]],
    ["is not created while it cannot be looked for", ["answer lost", "search is away", "made"], ["create", "find"]],
  ])("what is made once %s", async (_, plays, expected) => {
    const { things, calls, input, lost } = openShop();
    const got: unknown[] = [];
    const { receiver, event } = await deliverOne(async ({ attempt, once }) => {
      const play = plays[attempt - 1];
      if (play === "fails before") throw new Error("before");
      const away = { ...input("a"), find: () => Promise.reject(new Error("The search is away.")) };
      got.push(await once("thing", play === "answer lost" ? lost("a") : play === "search is away" ? away : input("a")));
      if (play === "made, then fails") throw new Error("again");
    });
    await untilWork(receiver, event.id, { state: "done", attempts: plays.length });
    expect([calls, things]).toEqual([expected, [{ id: 1, mark: "a" }]]);
    for (const each of got) expect(each).toEqual(things[0]);
  });

  test.each<[unknown, number]>([
    [undefined, 3],
    [null, 3],
    [0, 1],
    ["", 1],
    [false, 1],
  ])("where later runs find %j, it is created %i times in three runs", async (found, times) => {
    let creations = 0;
    const create = (): never => {
      creations += 1;
      throw new Error("The answer was lost.");
    };
    const { receiver, event } = await deliverOne(
      async ({ once }) => expect(await once<unknown>("thing", { find: () => found, create })).toBe(found),
      { retry: { initialMs: 1, maxAttempts: 3 } },
    );
    await untilWork(receiver, event.id, { state: times === 1 ? "done" : "dead" });
    expect(creations).toBe(times);
  });

  test("the first run after a retry through the inbox looks first, though it counts as attempt 1", async () => {
    const { things, calls, input, lost } = openShop();
    const attempts: number[] = [];
    const { receiver, event } = await deliverOne(async (ctx) => {
      attempts.push(ctx.attempt);
      await ctx.once("thing", attempts.length === 1 ? lost("a") : input("a")).catch((error: unknown) => {
        throw new DoNotRetry(String(error));
      });
    });
    await untilWork(receiver, event.id, { state: "dead" });
    await receiver.inbox.retry(event.id);
    await untilWork(receiver, event.id, { state: "done" });
    expect([attempts, calls, things.length]).toEqual([[1, 1], ["create", "find"], 1]);
  });

  test("the run after a stop looks first, in another process too", async () => {
    const file = tempFile();
    const { things, calls, input } = openShop();
    const first = await deliverOne(
      (ctx) =>
        ctx.once("thing", { ...input("a"), create: () => (void input("a").create(), new Promise<never>(() => {})) }),
      { store: storeIn(file) },
    );
    await expect.poll(() => things.length).toBe(1);
    await closeReceiver(first.receiver);

    const second = await startReceiver(
      { store: storeIn(file) },
      { "email.sent": (_, ctx) => ctx.once("thing", input("a")) },
    );
    await untilWork(second, first.event.id, { state: "done" });
    expect([calls, things.length]).toEqual([["create", "find"], 1]);
  });

  test("a run whose lease was lost creates nothing", async () => {
    const { calls, input } = openShop();
    const store = decorateStore((real) => {
      let saves = 0;
      return { saveStep: async (...args) => ((saves += 1) === 1 ? "lost" : real.saveStep(...args)) };
    });
    const codes: unknown[] = [];
    const { receiver, event } = await deliverOne(
      async (ctx) => {
        try {
          await ctx.once("thing", input("a"));
        } catch (error) {
          codes.push((error as { code: string }).code, calls.length);
          throw error;
        }
      },
      { store },
    );
    await untilWork(receiver, event.id, { state: "done" });
    expect([codes, calls]).toEqual([
      ["lease_lost", 0],
      ["find", "create"],
    ]);
  });

  test("a name is used once in a run, by a step or by what is made once", async () => {
    const { things, input } = openShop();
    const codes: unknown[] = [];
    const { receiver, event } = await deliverOne(async ({ once, step }) => {
      const codeOf = async (work: () => Promise<unknown>) => codes.push((await errorOf(work)).code);
      await once("thing", input("a"));
      await codeOf(() => once("thing", input("b")));
      await codeOf(() => step("thing", () => 1));
      await codeOf(() => step("thing (begun)", () => 1));
    });
    await untilWork(receiver, event.id, { state: "done" });
    expect(codes).toEqual(["duplicate_step", "duplicate_step", "duplicate_step"]);
    expect(things).toHaveLength(1);
  });

  test.each<[string, unknown, unknown]>([
    ["a name that is no text", 7, openShop().input("a")],
    ["no find", "thing", { create: () => 1 }],
    ["no create", "thing", { find: () => 1 }],
    ["nothing", "thing", undefined],
  ])("%s is refused before anything is called", async (_, name, input) => {
    const codes: unknown[] = [];
    const { receiver, event } = await deliverOne(async ({ once }) => {
      codes.push((await errorOf(() => once(name as string, input as OnceInput<number>))).code);
    });
    await untilWork(receiver, event.id, { state: "done" });
    expect(codes).toEqual(["invalid_argument"]);
    expect((await workOf(receiver, event.id))?.attempts).toBe(1);
  });

  test("the type of the value is that of what is made", () => {
    type Once = HandlerContext["once"];
    const typed = (once: Once) => ({
      made: once("a", { find: () => undefined, create: () => ({ id: 1 }) }),
      promised: once("a", { find: async () => [{ id: "x" }][0], create: async () => ({ id: "x", other: 1 }) }),
    });
    expectTypeOf<Awaited<ReturnType<typeof typed>["made"]>>().toEqualTypeOf<{ id: number }>();
    expectTypeOf<Awaited<ReturnType<typeof typed>["promised"]>>().toEqualTypeOf<{ id: string }>();
  });
});
