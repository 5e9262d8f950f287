import { fakeClock } from "pigeonhole/testing";
import { expect, test } from "vitest";
import {
  captureLog,
  decorateStore,
  makeEvent,
  makeGate,
  openReceiver,
  post,
  untilWork,
  workOf,
} from "../support/receiver.js";

const at = (second: number, fields: { id?: string; data?: Record<string, unknown> } = {}) =>
  makeEvent({ createdAt: new Date(Date.UTC(2026, 0, 1, 9, 0, second)).toISOString(), ...fields });

test("of a hundred events of one key that come while the handler runs, it runs the newest", async () => {
  const receiver = openReceiver();
  const busy = makeGate();
  const ran: string[] = [];
  const run = ({ id }: { id: string }): Promise<void> => (ran.push(id), busy.passed);
  receiver.on("email.sent", run, { key: () => "same", only: "newest" });
  await receiver.start();
  // The newest is among the first that come.
  const events = Array.from({ length: 100 }, (_, index) => at((index + 95) % 100));
  await post(receiver, events[0]);
  await expect.poll(() => ran).toHaveLength(1);
  await Promise.all(events.slice(1).map((event) => post(receiver, event)));
  busy.open();
  const newest = events[4] ?? expect.unreachable();
  await untilWork(receiver, newest.id, { state: "done" });
  await expect.poll(async () => (await receiver.stats()).running + (await receiver.stats()).pending).toBe(0);
  expect(ran).toEqual([events[0]?.id, newest.id]);
  expect(await workOf(receiver, events[99]?.id ?? "")).toMatchObject({
    state: "discarded",
    attempts: 0,
    reason: "superseded",
    error: `${newest.id} is newer`,
  });
});

test("an older event that waits for its retry ends when a newer one begins, and one that comes later never runs", async () => {
  const clock = fakeClock();
  const receiver = openReceiver({ clock });
  const ran: string[] = [];
  receiver.on(
    "email.sent",
    ({ id }) => {
      ran.push(id);
      if (id === "fails") throw new Error("no");
    },
    { key: () => "same", only: "newest" },
  );
  await receiver.start();
  const send = (event: object) => post(receiver, event);
  await send(at(2, { id: "fails" }));
  await untilWork(receiver, "fails", { state: "retrying", attempts: 1 });
  await send(at(3, { id: "newer" }));
  await untilWork(receiver, "newer", { state: "done" });
  const superseded = { state: "discarded", reason: "superseded", error: "newer is newer" } as const;
  await untilWork(receiver, "fails", superseded);
  await send(at(1, { id: "late" }));
  await untilWork(receiver, "late", superseded);
  await receiver.inbox.retry("late");
  await untilWork(receiver, "late", superseded);
  expect(ran).toEqual(["fails", "newer"]);
});

test("the key of an event that runs as soon as it is accepted is read once", async () => {
  const receiver = openReceiver();
  let reads = 0;
  const key = (): string => ((reads += 1), "same");
  receiver.on("email.sent", () => undefined, { key, only: "newest" });
  await receiver.start();
  const event = at(1);
  await post(receiver, event);
  await untilWork(receiver, event.id, { state: "done" });
  expect(reads).toBe(1);
});

test("without a key that can be read every event runs, and a key need not be a text", async () => {
  const log = captureLog();
  const receiver = openReceiver({ logger: log.logger });
  const ran: unknown[] = [];
  const key = ({ data }: { data: Record<string, unknown> }): string | undefined => {
    if (data["key"] === "throws") throw new Error("no");
    return data["key"] as string;
  };
  receiver.on("email.sent", ({ data }) => void ran.push(data["key"]), { key, only: "newest" });
  await receiver.start();
  for (const given of ["throws", undefined, null, 7]) {
    for (const second of [2, 1]) {
      const event = at(second, { data: { key: given } });
      await post(receiver, event);
      // Of the key 7, the second is older.
      await untilWork(receiver, event.id, { state: given === 7 && second === 1 ? "discarded" : "done" });
    }
  }
  expect(ran).toEqual(["throws", "throws", undefined, undefined, null, null, 7]);
  expect(log.named("handler_queue_failed")).toHaveLength(2);
});

test("only a handler of newest events asks the store before a run", async () => {
  const calls: string[] = [];
  const store = decorateStore((real) => ({
    beginNewest: (...given) => (calls.push(given[0].handler), real.beginNewest(...given)),
  }));
  const receiver = openReceiver({ store });
  const run = (): undefined => undefined;
  receiver.on("email.sent", run, { name: "all", key: () => "same" });
  receiver.on("email.sent", run, { name: "newest", key: () => "same", only: "newest" });
  await receiver.start();
  await post(receiver, at(1));
  await expect.poll(async () => (await receiver.stats()).done).toBe(2);
  expect(calls).toEqual(["newest"]);
});
