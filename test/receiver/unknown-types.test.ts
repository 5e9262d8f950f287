import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { AnyEvent } from "pigeonhole";
import { closeReceiver, makeEvent, openReceiver, post, storeIn, tempFile, untilWork } from "../support/receiver.js";

const NEW_TYPE = "email.archived";

describe("an event of a type newer than the package", () => {
  test("an event of an unknown type is parked if no handler matches it", async () => {
    const receiver = openReceiver();
    receiver.on("email.sent", () => expect.fail("is not for this handler"));
    await receiver.start();
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
    { type: "invoice.paid", pattern: "*" },
    { type: "word", pattern: "*" },
  ] as const)(
    "an event of the unknown type $type goes to $pattern with known: false, and is not parked",
    async ({ type, pattern }) => {
      const seen: AnyEvent[] = [];
      const receiver = openReceiver();
      receiver.on(pattern, (event) => seen.push(event));
      receiver.onUnhandled(() => expect.fail("a handler matches it"));
      await receiver.start();
      const event = makeEvent({ type, data: { a: 1 } });
      expect((await post(receiver, event)).outcome).toBe("accepted");
      await untilWork(receiver, event.id, { state: "done" }, pattern);
      expect(seen).toEqual([{ ...event, known: false, test: false }]);
    },
  );

  test("an event of an unknown type goes to onUnhandled as well, and stays parked for a later handler", async () => {
    const file = tempFile();
    const seen: AnyEvent[] = [];
    const first = openReceiver({ store: storeIn(file) });
    first.onUnhandled((event) => seen.push(event));
    await first.start();
    const event = makeEvent({ type: NEW_TYPE });
    expect((await post(first, event)).outcome).toBe("parked");
    await untilWork(first, event.id, { state: "done" }, "unhandled");
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
    const event = makeEvent({ type: "invoice.paid", data: { cents: 5 } });
    expect((await post(receiver, event)).outcome).toBe("accepted");
    await untilWork(receiver, event.id, { state: "done" }, "invoice.paid");
    await untilWork(receiver, event.id, { state: "done" }, "invoice.*");
    expect(seen).toEqual([
      ["type", true, 5],
      ["group", true],
    ]);
  });
});

describe("onUnhandled", () => {
  test("onUnhandled gets known events without a handler, and no others", async () => {
    const seen: string[] = [];
    const receiver = openReceiver();
    receiver.on("email.sent", () => undefined);
    receiver.onUnhandled(({ type, known }) => seen.push(`${type} ${known}`));
    await receiver.start();
    const unmatched = makeEvent({ type: "email.opened" });
    const matched = makeEvent();
    expect((await post(receiver, matched)).outcome).toBe("accepted");
    expect((await post(receiver, unmatched)).outcome).toBe("accepted");
    await untilWork(receiver, unmatched.id, { state: "done" }, "unhandled");
    await untilWork(receiver, matched.id, { state: "done" });
    expect(seen).toEqual(["email.opened true"]);
  });
});
