import { describe, expect, test } from "vitest";
import { DoNotRetry, type HandlerContext } from "pigeonhole";
import { closeReceiver, untilWork, workOf } from "../support/receiver.js";
import { storeIn, tempFile } from "../support/store-in.js";
import { deliverOne } from "./deliver-one.js";
import { startReceiver } from "../support/start-receiver.js";

describe("the value of a finished step", () => {
  const values: [string, unknown][] = [
    ["a number", 5],
    ["a text", "é\u0000\n"],
    ["null", null],
    ["undefined", undefined],
    ["false", false],
    ["an object with lists", { a: [1, { b: null }], c: "" }],
    ["an object with a key __proto__", JSON.parse('{"__proto__":{"a":1}}')],
    ["a text of 60,000 characters", "x".repeat(60_000)],
  ];
  test.each(values)("a retry does not repeat a finished step, and gets its value again: %s", async (_, value) => {
    let calls = 0;
    const got: unknown[] = [];
    const { receiver, event } = await deliverOne(async (ctx) => {
      got.push(await ctx.step("value", () => ((calls += 1), Promise.resolve(value))));
      if (ctx.attempt < 3) throw new Error("again");
    });
    await untilWork(receiver, event.id, { state: "done", attempts: 3 });
    expect(got).toEqual([value, value, value]);
    expect(calls).toBe(1);
  });

  test("a retry gets the value of a step with the name of a property that every object has", async () => {
    let calls = 0;
    const { receiver, event } = await deliverOne(async (ctx) => {
      for (const name of ["toString", "__proto__", "constructor", ""]) {
        expect(await ctx.step(name, () => ((calls += 1), name))).toBe(name);
      }
      if (ctx.attempt < 2) throw new Error("again");
    });
    await untilWork(receiver, event.id, { state: "done", attempts: 2 });
    expect(calls).toBe(4);
  });

  test("steps that run at once are kept by their own names", async () => {
    const calls: string[] = [];
    const { receiver, event } = await deliverOne(async (ctx) => {
      const values = await Promise.all(["a", "b", "c"].map((name) => ctx.step(name, () => (calls.push(name), name))));
      expect(values).toEqual(["a", "b", "c"]);
      if (ctx.attempt < 3) throw new Error("again");
    });
    await untilWork(receiver, event.id, { state: "done", attempts: 3 });
    expect(calls).toEqual(["a", "b", "c"]);
  });
});

describe("a step", () => {
  test("a step that throws is not kept, and its error is thrown to the handler", async () => {
    let calls = 0;
    const { receiver, event } = await deliverOne((ctx) =>
      ctx.step("flaky", () => {
        calls += 1;
        if (calls < 3) throw new Error("flaky");
      }),
    );
    await untilWork(receiver, event.id, { state: "done", attempts: 3 });
    expect(calls).toBe(3);
  });

  test("a step that was finished is kept for another process", async () => {
    const file = tempFile();
    let calls = 0;
    const step = (ctx: HandlerContext) => ctx.step("charge", () => `receipt ${(calls += 1)}`);
    const first = await deliverOne(
      async (ctx) => {
        await step(ctx);
        throw new Error("again");
      },
      { store: storeIn(file), retry: { initialMs: 60_000 } },
    );
    await untilWork(first.receiver, first.event.id, { state: "retrying", attempts: 1 });
    await closeReceiver(first.receiver);

    const got: unknown[] = [];
    const second = await startReceiver(
      { store: storeIn(file) },
      { "email.sent": async (_, ctx) => got.push(await step(ctx), ctx.attempt) },
    );
    await second.inbox.runNow(first.event.id);
    await untilWork(second, first.event.id, { state: "done" });
    expect(got).toEqual(["receipt 1", 2]);
    expect(calls).toBe(1);
  });

  test("a step of dead work is not repeated after a retry through the inbox", async () => {
    let calls = 0;
    let isMended = false;
    const { receiver, event } = await deliverOne(async (ctx) => {
      expect(await ctx.step("charge", () => (calls += 1))).toBe(1);
      if (!isMended) throw new DoNotRetry("no");
    });
    await untilWork(receiver, event.id, { state: "dead" });
    isMended = true;
    expect(await receiver.inbox.retry(event.id)).toEqual({ pending: 1, parked: undefined });
    await untilWork(receiver, event.id, { state: "done", attempts: 1 });
    expect(calls).toBe(1);
  });

  const loop: Record<string, unknown> = {};
  loop["self"] = loop;
  test.each<[string, unknown]>([
    ["a bigint", 5n],
    ["a circle", loop],
    ["a text of 65,536 characters", "x".repeat(65_536)],
  ])("a step whose value is %s is refused", async (_, value) => {
    const { receiver, event } = await deliverOne((ctx) => ctx.step("value", () => value), {
      retry: { maxAttempts: 1 },
    });
    await untilWork(receiver, event.id, { state: "dead" });
    const work = await workOf(receiver, event.id);
    expect(work?.error).toMatch(/step "value"/i);
    expect(work?.error).not.toContain("xxx");
  });
});

test.each<[unknown, boolean]>([
  ["n".repeat(500), true],
  ["n".repeat(501), false],
  ["\ud800", false],
  [7, false],
  [undefined, false],
  [null, false],
  [{}, false],
])("of a step named %j, which the store must be able to read back, it is %s that it runs", async (name, isGood) => {
  let calls = 0;
  const codes: unknown[] = [];
  const { receiver, event } = await deliverOne(async ({ step }) => {
    await step(name as string, () => (calls += 1)).catch(({ code }) => codes.push(code));
  });
  await untilWork(receiver, event.id, { state: "done", attempts: 1 });
  expect([codes, calls]).toEqual(isGood ? [[], 1] : [["invalid_argument"], 0]);
});
