import { describe, expect, test } from "vitest";
import * as z from "zod";
import { closeReceiver, makeEvent, openReceiver, post, untilWork } from "../support/receiver.js";
import { postUntil, startReceiver } from "../support/start-receiver.js";
import { parkedBy } from "./parked-by.js";
import { storeIn, tempFile } from "../support/store-in.js";

const CANARY = "canary@example.com";

describe("a schema", () => {
  test("a schema is applied again in every attempt, so that a retry gets the same data", async () => {
    const seen: unknown[] = [];
    const receiver = openReceiver({
      retry: { initialMs: 1, jitter: 0 },
      schemas: { "email.sent": z.object({ n: z.coerce.bigint() }) },
    });
    receiver.on("email.sent", ({ data }) => {
      seen.push(data.n);
      if (seen.length < 3) throw new Error("again");
    });
    await receiver.start();
    await postUntil(receiver, { state: "done", attempts: 3 }, { data: { n: "9007199254740993" } });
    expect(seen).toEqual([9007199254740993n, 9007199254740993n, 9007199254740993n]);
  });

  test.each([
    ["email.bouncd", 'Did you mean "email.bounced"?'],
    ["invoice.paid", "Register a handler of it, or remove it."],
  ])(
    "a schema of %s, which no handler names, is an error at the start: it would check nothing",
    async (type, advice) => {
      const receiver = openReceiver({ schemas: { [type]: z.object({}) } });
      receiver.on("*", () => undefined);
      await expect(receiver.start()).rejects.toMatchObject({
        code: "invalid_option",
        message: `options.schemas has "${type}", which is not an event type of the service and which no handler names. ${advice}`,
      });
      receiver.on(type, () => undefined);
      await receiver.start();
    },
  );

  test("a schema that does not match parks the event with paths, and with no value or key that it does not name", async () => {
    interface Tree {
      leaf: number;
      children?: Record<string, Tree> | undefined;
    }
    const tree: z.ZodType<Tree> = z.lazy(() =>
      z.object({ leaf: z.number(), children: z.record(z.string(), tree).optional() }),
    );
    const error = await parkedBy(
      z
        .looseObject({
          contacts: z.record(z.string(), z.object({ age: z.number() })).nullable(),
          counts: z.record(z.enum(["sent", "read"]), z.number()),
          pair: z.tuple([z.string()], z.object({ n: z.number() })),
          either: z.discriminatedUnion("kind", [
            z.object({ kind: z.literal("a") }),
            z.object({ kind: z.literal("b"), n: z.number() }),
          ]),
          tree,
          strict: z.strictObject({ lane: z.enum(["a", "b"]) }),
        })
        .catchall(z.number())
        .and(z.object({ both: z.string().transform(Number).pipe(z.number().max(1)) })),
      {
        contacts: { [CANARY]: { age: "x" } },
        counts: { sent: "x", read: 1 },
        pair: ["a", { n: "x" }],
        either: { kind: "b", n: "x" },
        tree: { leaf: 1, children: { [CANARY]: { leaf: 1, children: { [CANARY]: { leaf: "x" } } } } },
        strict: { lane: CANARY, [CANARY]: CANARY },
        both: "2",
        [CANARY]: "x",
      },
    );
    expect(error).not.toContain(CANARY);
    const paths = error.split("; ").map((issue) => issue.replace(/:.*/, ""));
    const known = ["*", "both", "contacts.*.age", "counts.sent", "either.n", "pair.1.n", "strict", "strict.lane"];
    expect([...new Set(paths)].toSorted()).toEqual(
      [...known, "tree.children.*.children.*.leaf"].map((path) => `data.${path}`).toSorted(),
    );
    expect(error).toContain("data.strict: unrecognized_keys");
  });

  test("a schema with thousands of issues reports the first twenty", async () => {
    const error = await parkedBy(z.object({ list: z.array(z.number()) }), {
      list: Array.from({ length: 5_000 }, () => "x"),
    });
    expect(error).toMatch(/data\.list\.19: invalid_type \(expected number\); and 4980 more$/);
  });

  test.each([new TypeError(CANARY), CANARY])("a schema that throws parks the event (%#)", async (thrown) => {
    const fail = (): never => {
      throw thrown;
    };
    const error = await parkedBy(z.object({}).transform(fail), {});
    expect(error).toMatch(/^The schema threw .*synchronous/);
    expect(error).not.toContain("canary");
  });

  test("a schema that was corrected handles what was parked", async () => {
    const file = tempFile();
    const first = openReceiver({ store: storeIn(file), schemas: { "email.sent": z.object({ n: z.string() }) } });
    first.on("email.sent", () => expect.fail("must not run"));
    await first.start();
    const event = makeEvent({ data: { n: 5 } });
    expect((await post(first, event)).outcome).toBe("parked");
    expect(await first.inbox.retry(event.id)).toEqual({ pending: 0, parked: "bad_data" });
    await closeReceiver(first);

    const seen: number[] = [];
    const second = openReceiver({ store: storeIn(file), schemas: { "email.sent": z.object({ n: z.number() }) } });
    second.on("email.sent", ({ data }) => seen.push(data.n));
    await second.start();
    expect(await second.inbox.retry(event.id)).toEqual({ pending: 1, parked: undefined });
    await untilWork(second, event.id, { state: "done", attempts: 1 });
    expect(seen).toEqual([5]);
    expect((await post(second, event)).outcome).toBe("duplicate");
    expect((await second.stats()).parked).toBe(0);
  });

  test("a schema that became stricter parks what waited for its handler, and a retry with the old one runs it", async () => {
    const file = tempFile();
    const loose = await startReceiver(
      { store: storeIn(file), retry: { initialMs: 1, jitter: 0 } },
      { "email.sent": () => Promise.reject(new Error("not yet")) },
    );
    const event = await postUntil(loose, { state: "retrying" }, { data: { n: 5 } });
    await closeReceiver(loose);

    const strict = openReceiver({ store: storeIn(file), schemas: { "email.sent": z.object({ n: z.string() }) } });
    strict.on("email.sent", () => expect.fail("must not run"));
    await strict.start();
    await untilWork(strict, event.id, { state: "parked", reason: "bad_data" });
    await closeReceiver(strict);

    let runs = 0;
    const loosened = await startReceiver({ store: storeIn(file) }, { "email.sent": () => (runs += 1) });
    expect(await loosened.inbox.retryAll({ state: "parked" })).toEqual({ events: 1, pending: 1, stillParked: 0 });
    await untilWork(loosened, event.id, { state: "done" });
    expect(runs).toBe(1);
  });
});
