import { DoNotRetry, type HandlerContext } from "pigeonhole";
import { describe, expect, expectTypeOf, test } from "vitest";
import { errorOf } from "../support/error-of.js";
import { closeReceiver, openReceiver, untilWork, workOf } from "../support/receiver.js";
import { decorateStore, storeIn, tempFile } from "../support/store-in.js";
import { deliverOne } from "./deliver-one.js";
import type { OnceInput } from "#pigeonhole/dispatch/steps.js";

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

describe("ctx.once", () => {
  test("the first run creates without a look, and a retry gets the kept value without either", async () => {
    const { calls, input } = openShop();
    const got: unknown[] = [];
    const { receiver, event } = await deliverOne(async ({ once, attempt }) => {
      got.push(await once("thing", input("a")));
      if (attempt < 3) throw new Error("again");
    });
    await untilWork(receiver, event.id, { state: "done", attempts: 3 });
    const thing = { id: 1, mark: "a" };
    expect([calls, got]).toEqual([["create"], [thing, thing, thing]]);
  });

  test("a later run finds what was made when the answer was lost, and keeps it", async () => {
    const { things, calls, input, lost } = openShop();
    const got: unknown[] = [];
    const { receiver, event } = await deliverOne(async (ctx) => {
      got.push(await ctx.once("thing", ctx.attempt === 1 ? lost("a") : input("a")));
      if (ctx.attempt < 3) throw new Error("again");
    });
    await untilWork(receiver, event.id, { state: "done", attempts: 3 });
    expect(calls).toEqual(["create", "find"]);
    expect([things.length, got]).toEqual([1, [things[0], things[0]]]);
  });

  test.each([[undefined], [null]])("a later run that finds %j creates", async (nothing) => {
    let creations = 0;
    const { receiver, event } = await deliverOne((ctx) =>
      ctx.once("thing", {
        find: () => nothing,
        create: () => {
          creations += 1;
          if (ctx.attempt < 3) throw new Error("It was not made.");
        },
      }),
    );
    await untilWork(receiver, event.id, { state: "done", attempts: 3 });
    expect(creations).toBe(3);
  });

  test.each<[unknown]>([[0], [""], [false]])("a later run that finds %j creates nothing", async (found) => {
    let creations = 0;
    const got: unknown[] = [];
    const { receiver, event } = await deliverOne(async (ctx) => {
      const create = () => {
        creations += 1;
        throw new Error("The answer was lost.");
      };
      got.push(await ctx.once<unknown>("thing", { find: () => found, create }));
    });
    await untilWork(receiver, event.id, { state: "done", attempts: 2 });
    expect([creations, got]).toEqual([1, [found]]);
  });

  test("a run that fails before it lets the next one look first, and create", async () => {
    const { calls, input } = openShop();
    const { receiver, event } = await deliverOne(async (ctx) => {
      if (ctx.attempt === 1) throw new Error("before");
      await ctx.once("thing", input("a"));
    });
    await untilWork(receiver, event.id, { state: "done", attempts: 2 });
    expect(calls).toEqual(["find", "create"]);
  });

  test("an error of the look is the run's, and nothing is created", async () => {
    const { things, input, lost } = openShop();
    const { receiver, event } = await deliverOne((ctx) => {
      if (ctx.attempt === 1) return ctx.once("thing", lost("a"));
      if (ctx.attempt === 3) return ctx.once("thing", input("a"));
      return ctx.once("thing", { ...input("a"), find: () => Promise.reject(new Error("The search is away.")) });
    });
    await untilWork(receiver, event.id, { state: "done", attempts: 3 });
    expect(things).toHaveLength(1);
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

    const second = openReceiver({ store: storeIn(file) });
    second.on("email.sent", (_, ctx) => ctx.once("thing", input("a")));
    await second.start();
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
