import { createHash } from "node:crypto";
import { join } from "node:path";
import { DoNotRetry, type ReceiverOptions, createSqliteStore } from "pigeonhole";
import type { EventType } from "pigeonhole/protocol";
import { TEST_SECRET, fakeClock } from "pigeonhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { isoTime } from "#pigeonhole/base/iso-time.js";
import type { HeaderList } from "#pigeonhole/capture/model/capture.js";
import { summarizeCapture } from "#pigeonhole/capture/model/summarize-capture.js";
import type { DevEvent } from "#pigeonhole/dev/lines/dev-event.js";
import { WorkFollower } from "#pigeonhole/dev/api/work-follower.js";
import type { EventDetail } from "#pigeonhole/store/inbox-view.js";
import { openInboxFile } from "#pigeonhole/store/sqlite/open-inbox-file.js";
import { makeAttempt, makeCapture } from "../support/captures.js";
import { makeFolder } from "../support/folder.js";
import { makeEvent, openReceiver, post, untilWork } from "../support/receiver.js";

/** A follower of the work of these events. */
function followWork(getEvent: (id: string) => Promise<EventDetail | undefined>, clock = fakeClock()) {
  const reports: DevEvent[] = [];
  const report = (event: DevEvent) => void reports.push(event);
  const follower = new WorkFollower({ inbox: { getEvent }, clock, report, changed: () => undefined });
  onTestFinished(() => follower.close());
  /** The app answers a delivery of the event. */
  const see = (eventId: string, outcome = "accepted"): void => {
    const attempt = { eventId, headers: [["x-pigeonhole-outcome", outcome]] };
    follower.see({ kind: "forwarded", capture: { eventId }, attempt } as unknown as DevEvent);
  };
  return { clock, follower, reports, see };
}

/** A receiver with one handler on a new file, and what the follower of its work reports. */
async function follow(type: EventType, run: () => void, secrets: ReceiverOptions["secrets"] = TEST_SECRET) {
  const file = join(makeFolder(), "inbox.db");
  const clock = fakeClock(Date.now());
  const receiver = openReceiver({ secrets, store: createSqliteStore({ file, thread: false }), clock });
  receiver.on(type, run);
  await receiver.start();
  const inbox = await openInboxFile(file);
  onTestFinished(() => inbox.close());
  return { receiver, inbox, ...followWork((id) => inbox.getEvent(id), clock) };
}

const fail = (): never => {
  throw new DoNotRetry("the address book is closed");
};

test("a failure of work that was retried is reported like the first one", async () => {
  const { receiver, inbox, clock, follower, reports, see } = await follow("email.sent", fail);
  const event = makeEvent();
  await post(receiver, event);
  await untilWork(receiver, event.id, { state: "dead" });
  see(event.id);
  const look = () => clock.advance(1_000).then(() => reports.length);
  await expect.poll(look).toBe(1);
  await inbox.changeEvent("retry", event.id);
  follower.follow(event.id);
  await expect.poll(look).toBe(2);
  expect(reports[1]).toMatchObject({ kind: "handler_failed", state: "dead", attempts: 1 });
});

test.each([
  ["accepted", { state: "retrying", dueAt: isoTime(600_000) }],
  ["parked", { state: "parked", dueAt: null }],
])("a duplicate before the first look does not hide that the handler of an %s event failed", async (outcome, left) => {
  const work = { handler: "crm", attempts: 1, error: "Error: away", ...left };
  const getEvent = async () => ({ id: "evt_1", handlers: [work] }) as unknown as EventDetail;
  const { clock, reports, see } = followWork(getEvent);
  for (const answer of [outcome, "duplicate"]) see("evt_1", answer);
  await clock.advance(1_000);
  expect(reports).toMatchObject([{ kind: "handler_failed", state: left.state, attempts: 1 }]);
});

test("work that is run now is not reported as failed again before it has run", async () => {
  const clock = fakeClock();
  const dueAt = isoTime(clock.now() + 600_000);
  const work = { handler: "crm", state: "retrying", attempts: 1, error: "Error: away", dueAt };
  let view = work;
  const getEvent = async () => ({ id: "evt_1", handlers: [view] }) as unknown as EventDetail;
  const { follower, reports, see } = followWork(getEvent, clock);
  see("evt_1");
  const look = async () => {
    follower.follow("evt_1");
    await clock.advance(1_000);
    return reports.length;
  };
  expect(await look()).toBe(1);
  view = { ...work, dueAt: isoTime(clock.now()) };
  expect(await look()).toBe(1);
  view = { ...work, attempts: 2, dueAt: isoTime(clock.now() + 1_200_000) };
  expect(await look()).toBe(2);
});

test.each([
  [1, 1],
  [200, 2],
])("%i dead events are each looked at every %i s, so that retries by hand are seen", async (count, everySeconds) => {
  const handlers = [{ handler: "crm", state: "dead", attempts: 1, error: "Error: away", dueAt: null }];
  const looks = new Map<string, number>();
  const getEvent = async (id: string) => {
    looks.set(id, (looks.get(id) ?? 0) + 1);
    return { id, handlers } as unknown as EventDetail;
  };
  const { clock, follower } = followWork(getEvent);
  for (let index = 0; index < count; index += 1) follower.follow(`evt_${index}`);
  await clock.advance(10_000);
  looks.clear();
  await clock.advance(20 * everySeconds * 1_000);
  const [fewest, most] = [Math.min(...looks.values()), Math.max(...looks.values())];
  expect([looks.size, fewest >= 16, most <= 20]).toEqual([count, true, true]);
});

test("an event of a named source is found by the id that was captured, and reported by the one that commands take", async () => {
  const { receiver, clock, reports, see } = await follow("email.sent", fail, { acme: TEST_SECRET });
  const event = makeEvent();
  await post(receiver, event);
  see(event.id);
  await expect.poll(() => clock.advance(1_000).then(() => reports)).toHaveLength(1);
  expect(reports).toMatchObject([{ kind: "handler_failed", eventId: `acme/${event.id}` }]);
});

test("an event that no handler got is reported once", async () => {
  const { receiver, clock, follower, reports, see } = await follow("email.bounced", () => undefined);
  const [event, handled] = [makeEvent(), makeEvent({ type: "email.bounced" })];
  for (const each of [event, handled]) {
    await post(receiver, each);
    see(each.id);
  }
  await expect.poll(() => clock.advance(1_000).then(() => follower.known)).toHaveLength(2);
  expect(reports).toMatchObject([{ kind: "no_handler", eventId: event.id }]);
});

test("an edited body without an id is not followed as the captured event", async () => {
  const looked: string[] = [];
  const getEvent = async (id: string) => {
    looked.push(id);
    return undefined;
  };
  const { clock, follower } = followWork(getEvent);
  const headers: HeaderList = [["x-pigeonhole-outcome", "parked"]];
  const see = (body: string, sentBody: string | null) => {
    const edited = sentBody === null ? null : ({ encoding: "utf8", data: sentBody } as const);
    const attempt = makeAttempt({ kind: "replay", headers, sentBody: edited });
    const capture = summarizeCapture({ ...makeCapture({ body }), attempts: [attempt] });
    follower.see({ kind: "replayed", capture, attempt });
  };

  see('{"id":"evt_1"}', '{"type":"email.sent"}');
  see('{"id":"evt_2"}', '{"id":"evt_2","type":"email.sent"}');
  see("not JSON", null);
  await clock.advance(1_000);
  const digest = createHash("sha256").update("not JSON").digest("hex");
  expect(new Set(looked)).toEqual(new Set(["evt_2", `raw:${digest}`]));
});
