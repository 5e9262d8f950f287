import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { Receiver, SchemaMap } from "pigeonhole";
import {
  captureLog,
  closeReceiver,
  makeEvent,
  openReceiver,
  post,
  storeIn,
  tempFile,
  untilWork,
} from "../support/receiver.js";

const NUMBER = { "email.sent": z.object({ total: z.number() }) };
const BOTH = { "email.sent": z.object({ total: z.union([z.number(), z.string()]) }) };

/** A receiver on the file whose handler notes what it handles. */
async function start(file: string, schemas: SchemaMap) {
  const handled: unknown[] = [];
  const log = captureLog();
  const receiver: Receiver<SchemaMap> = openReceiver({ store: storeIn(file), schemas, logger: log.logger });
  receiver.on("email.sent", ({ id, data }) => handled.push([id, (data as { total: unknown }).total]));
  await receiver.start();
  /** Each is logged with its id, also while the alarm is limited. */
  const noted = () => log.named("other_bytes").map(({ eventId, kept }) => [eventId, kept]);
  return { receiver, handled, noted };
}

/** Two bodies of one id: `total` is a text in the first and a number in the second. */
function makePair() {
  const event = makeEvent();
  return { id: event.id, text: { ...event, data: { total: "7" } }, number: { ...event, data: { total: 7 } } };
}

describe("a second body under the id of a parked event", () => {
  test("a second body under the id of a parked event is handled at once in its place if it is understood", async () => {
    const { id, text, number } = makePair();
    const { receiver, handled, noted } = await start(tempFile(), NUMBER);
    expect((await post(receiver, text)).outcome).toBe("parked");
    expect((await post(receiver, number)).outcome).toBe("accepted");
    for (const body of [number, text]) expect((await post(receiver, body)).outcome).toBe("duplicate");
    await untilWork(receiver, id, { state: "done" });
    expect(noted()).toEqual([
      [id, true],
      [id, false],
    ]);
    expect(handled).toEqual([[id, 7]]);
    expect((await receiver.inbox.list()).items).toMatchObject([{ id, state: "done" }]);
  });

  test("a second body under the id of a parked event changes nothing if it is not understood either", async () => {
    const file = tempFile();
    const { id, text, number } = makePair();
    const never = { "email.sent": z.never() };
    const before = await start(file, never);
    expect((await post(before.receiver, text)).outcome).toBe("parked");
    expect((await post(before.receiver, number)).outcome).toBe("duplicate");
    await closeReceiver(before.receiver);

    const after = await start(file, BOTH);
    expect(await after.receiver.inbox.retryAll({ state: "parked" })).toEqual({ events: 1, pending: 1, stillParked: 0 });
    await untilWork(after.receiver, id, { state: "done" });
    expect(after.handled).toEqual([[id, "7"]]);
  });
});
