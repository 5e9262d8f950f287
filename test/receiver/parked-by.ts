import type { SchemaMap } from "pigeonhole";
import { expect } from "vitest";
import { makeEvent, openReceiver, post, workOf } from "../support/receiver.js";

/** What a receiver notes of an event that it parks for its data, before any handler runs. */
export async function parkedBy(schema: SchemaMap[string], data: Record<string, unknown>): Promise<string> {
  const receiver = openReceiver({ schemas: { "email.sent": schema } });
  receiver.on("email.sent", () => expect.fail("must not run"));
  await receiver.start();
  const event = makeEvent({ data });
  expect((await post(receiver, event)).outcome).toBe("parked");
  const { state, reason, error } = (await workOf(receiver, event.id, "")) ?? {};
  expect([state, reason]).toEqual(["parked", "bad_data"]);
  return error ?? "";
}
