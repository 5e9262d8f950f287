import { fakeClock } from "pigeonhole/testing";
import { expect, test } from "vitest";
import { makeEvent, openReceiver, post, storeIn, tempFile, untilWork } from "../support/receiver.js";
import { startReceiver } from "../support/start-receiver.js";

test("one process accepts and another one works, on one file", async () => {
  const file = tempFile();
  const clock = fakeClock();
  const ran: string[] = [];
  const startAs = (role: "accept" | "work") =>
    startReceiver({ store: storeIn(file), role, clock }, { "email.sent": ({ id }) => ran.push(`${role} ${id}`) });
  const accepting = await startAs("accept");
  await startAs("work");
  const event = makeEvent();
  expect(await post(accepting, event, { at: clock.now() })).toMatchObject({ status: 200, outcome: "accepted" });
  await untilWork(accepting, event.id, { state: "done" }, "email.sent", clock);
  expect(ran).toEqual([`work ${event.id}`]);
});

test("a receiver that only works answers deliveries so that the service sends them again", async () => {
  const receiver = await startReceiver({ role: "work" });
  const { status, outcome, headers } = await post(receiver, makeEvent());
  expect([status, outcome, headers.get("retry-after")]).toEqual([503, "not_accepting", "30"]);
  expect(await receiver.stats()).toMatchObject({ pending: 0, done: 0 });
});

test.each([["reader"], [""], [null], [1]])("the role %j is refused", (role) => {
  expect(() => openReceiver({ role: role as "work" })).toThrow(
    expect.objectContaining({ code: "invalid_option", message: expect.stringContaining("role") }),
  );
});
