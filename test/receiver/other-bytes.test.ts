import { describe, expect, test } from "vitest";
import * as z from "zod";
import { type Alarm, createSqliteStore, type Receiver, type SchemaMap } from "pigeonhole";
import { captureLog, closeReceiver, makeEvent, openReceiver, post, tempFile, untilWork } from "../support/receiver.js";

const TEXT = { "email.sent": z.object({ total: z.string() }) };
const NUMBER = { "email.sent": z.object({ total: z.number() }) };
const BOTH = { "email.sent": z.object({ total: z.union([z.number(), z.string()]) }) };

/** A receiver on the file whose handler notes what it handles. */
async function start(file: string, schemas: SchemaMap) {
  const handled: unknown[] = [];
  const alarms: Alarm[] = [];
  const log = captureLog();
  const receiver: Receiver<SchemaMap> = openReceiver({
    store: createSqliteStore({ file, thread: false }),
    schemas,
    logger: log.logger,
    onAlarm: (alarm) => alarms.push(alarm),
  });
  receiver.on("email.sent", ({ id, data }) => handled.push([id, (data as { total: unknown }).total]));
  await receiver.start();
  return { receiver, handled, alarms, log };
}

/** Two bodies of one id: `total` is a text in the first and a number in the second. */
function makePair() {
  const event = makeEvent();
  return { id: event.id, text: { ...event, data: { total: "7" } }, number: { ...event, data: { total: 7 } } };
}

describe("a second body under the id of a parked event", () => {
  test("a second body under the id of a parked event is handled at once if it is understood, and the first then counts as done", async () => {
    const file = tempFile();
    const { id, text, number } = makePair();
    const before = await start(file, NUMBER);
    expect((await post(before.receiver, text)).outcome).toBe("parked");
    expect((await post(before.receiver, number)).outcome).toBe("accepted");
    expect((await post(before.receiver, number)).outcome).toBe("duplicate");
    const { items } = await before.receiver.inbox.list();
    const secondId = items[0]?.id ?? "";
    await untilWork(before.receiver, secondId, { state: "done" });
    expect(before.handled).toEqual([[id, 7]]);
    expect(items).toMatchObject([{ otherBytes: [id] }, { id, state: "parked", otherBytes: [secondId] }]);
    await closeReceiver(before.receiver);

    const after = await start(file, BOTH);
    expect(await after.receiver.inbox.retry(id)).toEqual({ pending: 0, parked: undefined, otherBytes: ["email.sent"] });
    expect(await after.receiver.inbox.get(id)).toMatchObject({
      state: "done",
      handlers: [{ handler: "email.sent", reason: "other_bytes", discarded: true }],
    });
    expect(await after.receiver.inbox.retryAll({ state: "parked" })).toEqual({ events: 0, pending: 0, stillParked: 0 });
    expect(after.handled).toEqual([]);
  });

  test("a second body under the id of a parked event is parked too, and one of them is handled once both are understood", async () => {
    const file = tempFile();
    const { id, text, number } = makePair();
    const never = { "email.sent": z.never() };
    const before = await start(file, never);
    for (const body of [text, number]) expect((await post(before.receiver, body)).outcome).toBe("parked");
    await closeReceiver(before.receiver);

    const after = await start(file, BOTH);
    expect(await after.receiver.inbox.retryAll({ state: "parked" })).toEqual({ events: 2, pending: 1, stillParked: 0 });
    await untilWork(after.receiver, id, { state: "done" });
    await expect.poll(() => after.receiver.stats()).toMatchObject({ pending: 0, leased: 0, parked: 0 });
    expect(after.handled).toEqual([[id, "7"]]);
  });

  test("a second body under the id of a parked event is logged with its id each time, even while the alarm is limited", async () => {
    const { receiver, alarms, log } = await start(tempFile(), TEXT);
    const pairs = [makePair(), makePair(), makePair()];
    for (const { text, number } of pairs) {
      await post(receiver, number);
      await post(receiver, text);
      await post(receiver, { ...text, more: true });
    }
    expect(alarms).toHaveLength(1);
    expect(log.named("other_bytes").map(({ eventId, kept }) => [eventId, kept])).toEqual(
      pairs.flatMap(({ id }) => [
        [id, true],
        [id, false],
      ]),
    );
  });
});
