import { expect, test } from "vitest";
import { sampleTestEvent } from "pigeonhole/testing";
import { captureLog, makeEvent, openReceiver, post, untilWork } from "../support/receiver.js";
import { postEvent, startReceiver } from "../support/start-receiver.js";

test("a test event reaches only handlers that ask for test events", async () => {
  const seen: string[] = [];
  const receiver = openReceiver();
  const note = (who: string) => (event: { test: boolean }) => seen.push(`${who} ${event.test}`);
  receiver
    .on("email.sent", note("type"))
    .on("email.*", note("group"))
    .on("*", note("all"))
    .on("email.sent", note("asking"), { name: "asking", testEvents: true })
    .onUnhandled(note("unhandled"));
  await receiver.start();
  const event = sampleTestEvent();
  expect((await post(receiver, event)).outcome).toBe("accepted");
  await untilWork(receiver, event.id, { state: "done" }, "asking");
  expect(await receiver.inbox.get(event.id)).toMatchObject({ test: true, handlers: [{ handler: "asking" }] });
  expect(seen).toEqual(["asking true"]);
});

test("a test event that no handler asks for is only logged", async () => {
  const log = captureLog();
  const receiver = openReceiver({ logger: log.logger });
  receiver.on("*", () => expect.fail("asked for nothing"));
  receiver.onUnhandled(() => expect.fail("asked for nothing"));
  await receiver.start();
  const event = sampleTestEvent();
  expect((await post(receiver, event)).outcome).toBe("accepted");
  expect(log.named("test_event")).toEqual([
    expect.objectContaining({ level: 30, eventId: event.id, eventType: "email.sent" }),
  ]);
  expect(await receiver.inbox.get(event.id)).toMatchObject({ state: "unhandled", handlers: [] });
});

test("the field data.test of another type does not make a test event, since a form may have such a field", async () => {
  const seen: string[] = [];
  const receiver = await startReceiver({}, { "form.submitted": (event) => seen.push(`${event.type} ${event.test}`) });
  const event = await postEvent(receiver, { type: "form.submitted", data: { test: true } });
  await untilWork(receiver, event.id, { state: "done" }, "form.submitted");
  expect(seen).toEqual(["form.submitted false"]);
  const unknown = makeEvent({ type: "email.archived", data: { test: true } });
  expect((await post(receiver, unknown)).outcome).toBe("parked");
});

test.each<[unknown]>([["true"], [1], [null], [{}]])(
  "the value data.test: %j does not make a test event",
  async (mark) => {
    const seen: unknown[] = [];
    const receiver = await startReceiver({}, { "email.sent": (event) => seen.push(event.test) });
    const event = await postEvent(receiver, { data: { test: mark } });
    await untilWork(receiver, event.id, { state: "done" });
    expect(seen).toEqual([false]);
  },
);
