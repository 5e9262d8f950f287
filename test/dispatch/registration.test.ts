import { describe, expect, test } from "vitest";
import { type BatchOptions, EVENT_TYPES, type HandlerOptions, type Receiver } from "pigeonhole";
import { openReceiver } from "../support/receiver.js";
import { errorOf } from "../support/error-of.js";

const nothing = () => undefined;

type Register = (receiver: Receiver) => Receiver;

describe("refused registrations", () => {
  test.each<[string, Register, Register]>([
    ["of one type without names", (to) => to.on("email.sent", nothing), (to) => to.on("email.sent", nothing)],
    [
      "with one name",
      (to) => to.on("email.sent", nothing, { name: "mine" }),
      (to) => to.on("email.opened", nothing, { name: "mine" }),
    ],
    ["of what none handles", (to) => to.onUnhandled(nothing), (to) => to.onUnhandled(nothing)],
    [
      "with the name of that one",
      (to) => to.onUnhandled(nothing),
      (to) => to.on("email.sent", nothing, { name: "unhandled" }),
    ],
    ["of batches and single events", (to) => to.onBatch("email.sent", nothing), (to) => to.on("email.sent", nothing)],
  ])("two handlers %s are refused, and the error says how to name them", async (_, first, second) => {
    const receiver = first(openReceiver());
    const error = await errorOf(() => second(receiver));
    expect(error.code).toBe("duplicate_handler");
    expect(error.message).toContain('{ name: "…" }');
    expect(() => receiver.on("email.sent", nothing, { name: "other" })).not.toThrow();
  });

  test("a registration after start() is refused, even after one that failed", async () => {
    const receiver = openReceiver();
    await receiver.start();
    expect(await errorOf(() => receiver.on("email.sent", nothing))).toMatchObject({ code: "already_started" });
    expect(await errorOf(() => receiver.onUnhandled(nothing))).toMatchObject({ code: "already_started" });

    const failing = openReceiver({ secrets: () => [] });
    await errorOf(() => failing.start());
    expect(await errorOf(() => failing.on("email.sent", nothing))).toMatchObject({ code: "already_started" });
  });

  test.each(["email.send", "email", "Email.sent", "email.sent ", "*.sent", "**", "email.**", "email*", ".*", ""])(
    "the type %j is refused, because it is not an event type",
    async (pattern) => {
      const error = await errorOf(() => openReceiver().on(pattern as "email.sent", nothing));
      expect(error.code).toBe("invalid_argument");
      expect(error.message).toContain("email.sent");
      expect(error.message).toContain("options.schemas");
    },
  );

  test.each<[unknown]>([[undefined], [null], [3], [{}], [[undefined]], [["email.sent", null]]])(
    "%j is refused in place of types, and the error says what to give",
    async (types) => {
      const error = await errorOf(() => openReceiver().on(types as "email.sent", nothing));
      expect(error.code).toBe("invalid_argument");
      expect(error.message).toContain("needs an event type or a list of them");
    },
  );

  test("a misspelt type among good ones is refused, and so is an empty list", async () => {
    const receiver = openReceiver();
    const types = ["email.sent", "email.send"] as "email.sent"[];
    for (const register of [
      () => receiver.on(types, nothing),
      () => receiver.on([], nothing),
      () => receiver.onBatch([], nothing),
    ])
      expect(await errorOf(register)).toMatchObject({ code: "invalid_argument" });
    // Nothing of it stayed.
    expect(() => receiver.on("email.sent", nothing)).not.toThrow();
  });

  test.each([undefined, null, "handler", {}])(
    "the value %j in place of a handler function is refused",
    async (handler) => {
      expect(await errorOf(() => openReceiver().on("email.sent", handler as () => void))).toMatchObject({
        code: "invalid_argument",
      });
    },
  );

  const bad: [HandlerOptions, RegExp][] = [
    [{ name: "" }, /name/],
    [{ name: "n".repeat(201) }, /name/],
    [{ name: 7 as unknown as string }, /name/],
    [{ key: "recipient" as unknown as () => string }, /"email\.sent": key/],
    [{ only: "newest" } as HandlerOptions, /"email\.sent": only: "newest" needs a key/],
    [{ key: () => "k", only: "last" } as unknown as HandlerOptions, /only/],
    [{ concurrency: 0 }, /"email\.sent": concurrency/],
    [{ concurrency: -1 }, /concurrency/],
    [{ concurrency: 1.5 }, /concurrency/],
    [{ concurrency: Number.NaN }, /concurrency/],
    [{ concurrency: Infinity }, /concurrency/],
    [{ rate: { runs: 0, per: "1s" } }, /"email\.sent": rate\.runs/],
    [{ rate: { runs: 1.5, per: "1s" } }, /rate\.runs/],
    [{ rate: null } as unknown as HandlerOptions, /"email\.sent": rate takes an object with options, got null/],
    // @ts-expect-error Both are needed.
    [{ rate: { per: "1s" } }, /rate\.runs must be a whole number of at least 1, got undefined/],
    // @ts-expect-error Both are needed.
    [{ rate: { runs: 1 } }, /rate\.per: undefined is not a duration/],
    // @ts-expect-error No unit is understood but ms, s, m, h and d.
    [{ rate: { runs: 1, per: "1 second" } }, /rate\.per/],
    [{ rate: { runs: 1, per: 0 } }, /rate\.per/],
    [{ rate: { runs: 1, per: "999ms" } }, /rate\.per/],
    [{ rate: { runs: 1, per: "25h" } }, /rate\.per/],
    // @ts-expect-error There is no burst.
    [{ rate: { runs: 1, per: "1s", burst: 5 } }, /no option "burst"/],
    [{ timeoutMs: 0 }, /timeoutMs/],
    [{ timeoutMs: Number.NaN }, /timeoutMs/],
    [{ timeoutMs: Infinity }, /timeoutMs/],
    [{ timeoutMs: "60" as unknown as number }, /timeoutMs/],
    [{ retry: { maxAttempts: 0 } }, /retry\.maxAttempts/],
    [{ retry: { maxAttempts: 1_001 } }, /retry\.maxAttempts/],
    [{ retry: { maxAttempts: 2.5 } }, /retry\.maxAttempts/],
    [{ retry: { initialMs: -1 } }, /retry\.initialMs/],
    [{ retry: { maxMs: Infinity } }, /retry\.maxMs/],
    [{ retry: { factor: 0.5 } }, /retry\.factor/],
    [{ retry: { factor: Number.NaN } }, /retry\.factor/],
    [{ retry: { jitter: 1.1 } }, /retry\.jitter/],
    [{ retry: { jitter: -0.1 } }, /retry\.jitter/],
  ];
  const badBatches: [BatchOptions, RegExp][] = [
    [{ max: 0 }, /"email\.sent": max must be a whole number from 1 to 1000/],
    [{ max: 1_001 }, /max/],
    [{ max: 1.5 }, /max/],
    [{ wait: 0 }, /"email\.sent": wait/],
    [{ wait: "2m" }, /wait/],
    [{ wait: "soon" as "1s" }, /wait: "soon" is not a duration/],
    [{ concurrency: 0 }, /concurrency/],
    [{ timeoutMs: 0 }, /timeoutMs/],
    [{ key: () => "a" } as BatchOptions, /has no option "key"/],
  ];
  test.each([
    ...bad.map(([options, message]) => ["on", options, message] as const),
    ...badBatches.map(([options, message]) => ["onBatch", options, message] as const),
  ])("%s refuses the option %o", async (method, options, message) => {
    const receiver = openReceiver();
    const register = receiver[method] as (types: string, run: () => undefined, options: object) => unknown;
    const error = await errorOf(() => register.call(receiver, "email.sent", nothing, options));
    expect(error.code).toBe("invalid_option");
    expect(error.message).toMatch(message);
    expect(() => receiver.on("email.sent", nothing)).not.toThrow();
  });

  test("a handler for so many types that their names make no name is refused, and the error says to give one", async () => {
    const error = await errorOf(() => openReceiver().on(EVENT_TYPES, nothing));
    expect(error).toMatchObject({ code: "invalid_option" });
    expect(error.message).toContain('{ name: "…" }');
    expect(() => openReceiver().on(EVENT_TYPES, nothing, { name: "all" })).not.toThrow();
  });
});

describe("refused options of createReceiver", () => {
  const bad: [string, object][] = [
    ["toleranceSeconds", { toleranceSeconds: 0 }],
    ["toleranceSeconds", { toleranceSeconds: Number.NaN }],
    ["toleranceSeconds", { toleranceSeconds: 7 * 86_400 + 1 }],
    ["maxBodyBytes", { maxBodyBytes: 0 }],
    ["bodyTimeoutMs", { bodyTimeoutMs: -1 }],
    ["highWaterMark", { highWaterMark: 0 }],
    ["concurrency", { concurrency: 0 }],
    ["unverified", { unverified: "ignore" }],
    ["name", { name: "" }],
    ["silenceAfterMs", { silenceAfterMs: 0 }],
    ["backlogAfterMs", { backlogAfterMs: 0 }],
    ["store", { store: "" }],
    ["retention.idsMs", { retention: { idsMs: 7 * 86_400_000 - 1 } }],
    ["retention.bodiesMs", { retention: { bodiesMs: -1 } }],
    ["retention.bodiesMs", { retention: { bodiesMs: 91 * 86_400_000 } }],
    ["retry.maxAttempts", { retry: { maxAttempts: 0 } }],
  ];
  test.each(bad)("createReceiver refuses %s in %o", async (name, options) => {
    const error = await errorOf(() => openReceiver(options));
    expect(error.code).toBe("invalid_option");
    expect(error.message).toContain(name);
  });
});
