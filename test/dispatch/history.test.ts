import { setImmediate } from "node:timers/promises";
import { RetryAfter } from "pigeonhole";
import { fakeClock } from "pigeonhole/testing";
import { describe, expect, test } from "vitest";
import { openInbox } from "#pigeonhole/store/open-inbox.js";
import { busiestSpan } from "../support/busiest-span.js";
import { makeGate } from "../support/gate.js";
import { closeReceiver, makeEvent, openReceiver, post, untilWork } from "../support/receiver.js";
import { decorateStore, storeIn, tempFile } from "../support/store-in.js";
import { postEvent } from "../support/start-receiver.js";

/** A file whose receiver has accepted events without a handler. */
async function acceptBefore(count: number, type = "email.sent"): Promise<{ file: string; ids: string[] }> {
  const file = tempFile();
  const before = openReceiver({ store: storeIn(file) });
  await before.start();
  const events = Array.from({ length: count }, () => makeEvent({ type }));
  for (const event of events) await post(before, event);
  await closeReceiver(before);
  return { file, ids: events.map(({ id }) => id) };
}

/** A receiver with a new handler whose runs wait for the gate. */
async function openAfter(file: string, { key = false, isOpen = false } = {}) {
  const gate = makeGate();
  if (isOpen) gate.open();
  const ran: string[] = [];
  const receiver = openReceiver({ store: storeIn(file), concurrency: 2 });
  const run = async ({ id }: { id: string }) => {
    ran.push(id);
    await gate.passed;
  };
  receiver.on("email.*", run, { name: "score@2", ...(key && { key: () => "all" }) });
  await receiver.start();
  return { receiver, gate, ran };
}

describe("history", () => {
  test.each([
    { key: false, begun: 2 },
    { key: true, begun: 1 },
  ])("a new event waits for the runs and one piece of history for each place, %o", async ({ key, begun }) => {
    const { file, ids } = await acceptBefore(30);
    const { receiver, gate, ran } = await openAfter(file, { key });
    expect(await receiver.inbox.plan({ handler: "score@2", dryRun: true })).toMatchObject({
      events: 30,
      job: null,
    });
    expect(await receiver.inbox.plan({ handler: "score@2" })).toMatchObject({ events: 30, withoutBody: 0 });
    await expect.poll(() => ran.length).toBe(begun);
    const fresh = await postEvent(receiver);
    expect((await receiver.stats()).pending).toBeLessThanOrEqual(1);
    gate.open();
    await expect.poll(() => ran.length).toBe(31);
    expect(ran.indexOf(fresh.id)).toBeLessThanOrEqual(4);
    expect(ran.filter((id) => id !== fresh.id)).toEqual(ids);
  });

  test("a handler of batches gets its history in full batches", async () => {
    const { file } = await acceptBefore(12);
    const receiver = openReceiver({ store: storeIn(file), clock: fakeClock() });
    const sizes: number[] = [];
    receiver.onBatch("email.sent", (events) => void sizes.push(events.length), { max: 4, wait: 60_000 });
    await receiver.start();
    await receiver.inbox.plan({ handler: "email.sent" });
    await expect.poll(() => sizes).toEqual([4, 4, 4]);
  });

  test("a handler with a rate gets its history at that rate", async () => {
    const { file } = await acceptBefore(12);
    const clock = fakeClock();
    const receiver = openReceiver({ store: storeIn(file), clock });
    const ran: number[] = [];
    receiver.on("email.sent", () => void ran.push(clock.elapsedMs), { rate: { runs: 4, per: "1s" } });
    await receiver.start();
    await receiver.inbox.plan({ handler: "email.sent" });
    while (ran.length < 12) await clock.advance(10);
    expect(busiestSpan(ran, 1_000)).toBeLessThanOrEqual(4);
    expect((ran[11] ?? 0) - (ran[3] ?? 0)).toBeLessThanOrEqual(2_400);
  });

  test("history that newer events have superseded ends without a wait", async () => {
    const { file, ids } = await acceptBefore(30);
    const clock = fakeClock();
    const receiver = openReceiver({ store: storeIn(file), clock, concurrency: 2 });
    const ran: string[] = [];
    const run = ({ id }: { id: string }) => void ran.push(id);
    receiver.on("email.sent", run, { name: "score@2", key: () => "all", only: "newest" });
    await receiver.start();
    const newest = await postEvent(receiver, { createdAt: "2026-01-01T09:00:01Z" });
    await untilWork(receiver, newest.id, { state: "done" }, "score@2");
    await receiver.inbox.plan({ handler: "score@2" });
    for (const id of ids) await untilWork(receiver, id, { reason: "superseded" }, "score@2");
    expect(ran).toEqual([newest.id]);
  });

  test("of the history of a key, a handler of newest events runs the newest alone", async () => {
    const { file, ids } = await acceptBefore(30);
    const receiver = openReceiver({ store: storeIn(file), concurrency: 2 });
    const ran: string[] = [];
    const run = ({ id }: { id: string }) => void ran.push(id);
    receiver.on("email.sent", run, { name: "score@2", key: () => "all", only: "newest" });
    await receiver.start();
    await receiver.inbox.plan({ handler: "score@2" });
    for (const id of ids.slice(0, -1)) await untilWork(receiver, id, { reason: "superseded" }, "score@2");
    expect(ran).toEqual(ids.slice(-1));
  });

  test("what a stop leaves of a history is given to the handler after the next start", async () => {
    const { file, ids } = await acceptBefore(30);
    const first = await openAfter(file);
    await first.receiver.inbox.plan({ handler: "score@2" });
    await expect.poll(() => first.ran.length).toBe(2);
    first.gate.open();
    await closeReceiver(first.receiver);
    const second = await openAfter(file, { isOpen: true });
    await untilWork(second.receiver, ids.at(-1) ?? "", { state: "done" }, "score@2");
    const inbox = await openInbox(file);
    expect(await inbox.listJobs()).toMatchObject([{ by: "app", state: "done", total: 30, done: 30 }]);
    await inbox.close();
    expect(new Set([...first.ran, ...second.ran])).toEqual(new Set(ids));
    // The stop may have ended runs, which are repeated.
    expect(first.ran.length + second.ran.length).toBeLessThanOrEqual(32);
  });

  test("a handler whose runs fail gets the rest of its history all the same", async () => {
    const { file } = await acceptBefore(12);
    const receiver = openReceiver({ store: storeIn(file), retry: { initialMs: 60_000 } });
    const ran = new Set<string>();
    receiver.on("email.sent", ({ id }) => {
      ran.add(id);
      throw new Error("it fails");
    });
    await receiver.start();
    await receiver.inbox.plan({ handler: "email.sent" });
    await expect.poll(() => ran.size).toBe(12);
  });

  test("while a wait holds the handler, its history is not asked for", async () => {
    const { file, ids } = await acceptBefore(12);
    let asked = 0;
    const store = decorateStore(
      (real) => ({
        lease: (request) => {
          asked += 1;
          return real.lease(request);
        },
      }),
      file,
    );
    const receiver = openReceiver({ store, concurrency: 2 });
    receiver.on("email.sent", () => {
      throw new RetryAfter("It is busy.", 60_000, { holds: "handler" });
    });
    await receiver.start();
    await receiver.inbox.plan({ handler: "email.sent" });
    await untilWork(receiver, ids[0] ?? "", { waitsFor: "retry_after" });
    await setImmediate();
    const before = asked;
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    expect(asked - before).toBeLessThanOrEqual(1);
  });

  test("an unknown handler, a misspelt field and foreign types are refused, with what is known", async () => {
    const { file } = await acceptBefore(1, "form.submitted");
    const { receiver } = await openAfter(file);
    await expect(receiver.inbox.plan({ handler: "score" })).rejects.toThrow(
      'No receiver of this inbox has had a handler "score". Known: score@2.',
    );
    const wrongs: object[] = [{ handler: "score@2", sinse: 1 }, {}, { handler: 5 }];
    for (const wrong of wrongs as { handler: string }[])
      await expect(receiver.inbox.plan(wrong)).rejects.toMatchObject({ code: "invalid_option" });
    for (const types of [["form.*"], [5] as unknown as string[]])
      await expect(receiver.inbox.plan({ handler: "score@2", types })).rejects.toThrow("gets email.*");
    expect(await receiver.inbox.plan({ handler: "score@2" })).toEqual({ events: 0, withoutBody: 0, job: null });
  });
});
