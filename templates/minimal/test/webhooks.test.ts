import { TEST_SECRET, deliver, sampleEvent } from "pigeonhole/testing";
import { expect, test } from "vitest";
import { createMailReceiver } from "../src/receiver.ts";

test("an event is answered 200 and handled once, although it is delivered twice", async () => {
  const receiver = createMailReceiver({ secrets: TEST_SECRET, store: ":memory:" });
  const event = sampleEvent("email.received");
  expect(await deliver(receiver, event)).toMatchObject({ status: 200, handlers: [{ state: "done", attempts: 1 }] });
  expect(await deliver(receiver, event)).toMatchObject({ status: 200, handlers: [{ state: "done", attempts: 1 }] });
  await receiver.stop();
});
