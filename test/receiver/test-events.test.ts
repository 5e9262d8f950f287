import { expect, test } from "vitest";
import { sampleTestEvent } from "pigeonhole/testing";
import { captureLog, openReceiver, post, untilWork } from "../support/receiver.js";
import { postUntil, startReceiver } from "../support/start-receiver.js";

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

test.each<[string, unknown]>([
  ["email.sent", "true"],
  ["email.sent", 1],
  ["email.sent", null],
  ["email.sent", {}],
  // A form may have such a field.
  ["form.submitted", true],
  ["email.archived", true],
])("an event of the type %s is no test event by data.test: %j", async (type, mark) => {
  const seen: string[] = [];
  const receiver = await startReceiver({}, { "*": (event) => seen.push(`${event.type} ${event.test}`) });
  await postUntil(receiver, { state: "done" }, { type, data: { test: mark } }, "*");
  expect(seen).toEqual([`${type} false`]);
});
