import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { AnyEvent } from "pigeonhole";
import { closeReceiver, makeEvent, openReceiver, post, storeIn, tempFile, untilWork } from "../support/receiver.js";
import { postEvent, postUntil, startReceiver } from "../support/start-receiver.js";

const NEW_TYPE = "email.archived";

describe("an event of a type newer than the package", () => {
  test("an event of an unknown type is parked if no handler matches it", async () => {
    const receiver = await startReceiver({}, { "email.sent": () => expect.fail("is not for this handler") });
    const event = makeEvent({ type: NEW_TYPE });
    expect((await post(receiver, event)).outcome).toBe("parked");
    expect(await receiver.inbox.get(event.id)).toMatchObject({
      type: NEW_TYPE,
      state: "parked",
      handlers: [{ handler: "", reason: "unknown_type" }],
    });
  });

  test.each([
    { type: "email.archived", pattern: "*" },
    { type: "email.archived", pattern: "email.*" },
    { type: "word", pattern: "*" },
  ] as const)(
    "an event of the unknown type $type goes to $pattern with known: false, and is not parked",
    async ({ type, pattern }) => {
      const seen: AnyEvent[] = [];
      const receiver = openReceiver();
      receiver.on(pattern, (event) => seen.push(event)).onUnhandled(() => expect.fail("a handler matches it"));
      await receiver.start();
      const event = await postUntil(receiver, { state: "done" }, { type, data: { a: 1 } }, pattern);
      expect(seen).toEqual([{ ...event, known: false, test: false }]);
    },
  );

  test("an event of an unknown type goes to onUnhandled as well, and stays parked for a later handler", async () => {
    const file = tempFile();
    const seen: AnyEvent[] = [];
    const first = openReceiver({ store: storeIn(file) });
    first.onUnhandled((event) => seen.push(event));
    await first.start();
    const event = await postUntil(first, { state: "done" }, { type: NEW_TYPE }, "unhandled");
    expect(seen).toEqual([{ ...event, known: false, test: false }]);
    expect((await first.stats()).parked).toBe(1);
    await closeReceiver(first);

    const later: unknown[] = [];
    const second = openReceiver({ store: storeIn(file), schemas: { [NEW_TYPE]: z.object({}) } });
    second.on(NEW_TYPE, ({ known }) => later.push(known));
    second.onUnhandled(() => expect.fail("was already unhandled once"));
    await second.start();
    expect(await second.inbox.retry(event.id)).toEqual({ pending: 1, parked: undefined });
    await untilWork(second, event.id, { state: "done" }, NEW_TYPE);
    expect(later).toEqual([true]);
    expect((await second.stats()).parked).toBe(0);
  });

  test("an event of an unknown type becomes known by an entry in schemas, with a group of its own", async () => {
    const seen: unknown[] = [];
    const receiver = openReceiver({ schemas: { "invoice.paid": z.object({ cents: z.number() }) } });
    receiver.on("invoice.paid", ({ known, data }) => seen.push(["type", known, data.cents]));
    receiver.on("invoice.*", ({ known }) => seen.push(["group", known]));
    await receiver.start();
    const { id } = await postUntil(receiver, { state: "done" }, { type: "invoice.paid", data: { cents: 5 } });
    await untilWork(receiver, id, { state: "done" }, "invoice.*");
    expect(seen).toEqual([
      ["type", true, 5],
      ["group", true],
    ]);
  });
});

test("onUnhandled gets known events without a handler, and no others", async () => {
  const seen: string[] = [];
  const receiver = openReceiver();
  receiver.on("email.sent", () => undefined).onUnhandled(({ type, known }) => seen.push(`${type} ${known}`));
  await receiver.start();
  const matched = await postEvent(receiver);
  await postUntil(receiver, { state: "done" }, { type: "email.opened" }, "unhandled");
  await untilWork(receiver, matched.id, { state: "done" });
  expect(seen).toEqual(["email.opened true"]);
});
