import { beforeEach, describe, expect, test } from "vitest";
import { discardEachContactEvent, retryEachContactEvent } from "#pigeonhole/operator/change-each.js";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import type { ContactEventChoice } from "#pigeonhole/store/outbox.js";
import type { Store } from "#pigeonhole/store/store.js";
import { T } from "../conformance/new-event.js";
import { membersOf, newRecord, RESULTS, sendSettlements } from "../conformance/new-record.js";
import { outboxOf, outboxStates, recordKeys, settleAll, takeSend } from "../conformance/outbox-fixture.js";
import type { StoreKind } from "../conformance/fixture.js";
import { openBoth } from "./open-both.js";
import { countOutbox } from "../../support/operate.js";

let store: Store;
let inbox: InboxOperator;

/** Events that the service refuses; the key of each is its name. */
async function recordRefused(...keys: string[]): Promise<void> {
  await recordKeys(store, ...keys);
  await settleAll(store, await takeSend(store), "dead");
}

/** Events of one call that was given up with its outcome unknown. */
async function recordGivenUp(keys: readonly string[], at: number): Promise<void> {
  for (const key of keys) await store.record(newRecord(key), at);
  await store.settleSend(sendSettlements.dead(await takeSend(store)));
}

/** Retry and discard of dead contact events, from outside the receiver. */
export function describeDeadContactEvents(kind: StoreKind): void {
  beforeEach(async () => {
    ({ store, inbox } = await openBoth(kind));
  });

  describe("the choice of contact events", () => {
    /** Refused at T: a, b. Given up, recorded at T + 10: c, d. Sent: e. Waiting for the next try of its call: f. */
    async function recordEach(): Promise<void> {
      await recordRefused("a", "b");
      await recordGivenUp(["c", "d"], T + 10);
      await store.record(newRecord("e"), T);
      await settleAll(store, await takeSend(store), "done");
      await store.record(newRecord("f"), T + 20);
      await store.settleSend(sendSettlements.pending(await takeSend(store)));
    }

    test.each<[ContactEventChoice, string[]]>([
      [{}, ["a", "b", "c", "d"]],
      [{ name: "b" }, ["b"]],
      [{ name: "f" }, []],
      [{ error: "CONTACT_not_found" }, ["a", "b"]],
      [{ error: "refused contact_not_found email" }, ["a", "b"]],
      [{ error: "too old" }, ["c", "d"]],
      [{ error: "%" }, []],
      [{ since: T + 10 }, ["c", "d"]],
      [{ until: T + 10 }, ["a", "b"]],
      [{ since: T + 10, until: T + 20, name: "d" }, ["d"]],
      [{ error: "too old", until: T + 10 }, []],
    ])("of what is dead, %j chooses %j, to count, to list and to discard", async (choice, chosen) => {
      await recordEach();
      expect(await inbox.changeContactEvents("discard", choice, { dryRun: true })).toBe(chosen.length);
      const listed = (await inbox.listContactEvents({ ...choice, state: "dead" })).items.map(({ key }) => key);
      expect(listed.toReversed()).toEqual(chosen);
      expect(await inbox.changeContactEvents("discard", choice)).toBe(chosen.length);
      const discarded = (await outboxOf(store)).filter(({ message }) => message === "discarded").map(({ key }) => key);
      expect(discarded).toEqual(chosen);
    });

    test.each<[ContactEventChoice, string[]]>([
      [{ error: "no answer" }, ["f"]],
      [{ name: "e" }, ["e"]],
      [{ since: T + 20 }, ["f"]],
      [{ until: T + 10 }, ["a", "b", "e"]],
    ])("of all contact events, %j lists %j", async (choice, keys) => {
      await recordEach();
      const { items } = await inbox.listContactEvents(choice);
      expect(items.map(({ key }) => key).toReversed()).toEqual(keys);
    });

    test("a page of pending events is full although newer ones do not fit the choice", async () => {
      for (const key of ["a", "b", "a.2", "b.2"]) await store.record(newRecord(key), T);
      const page = await inbox.listContactEvents({ state: "pending", name: "a", limit: 1 });
      expect(page.items.map(({ key }) => key)).toEqual(["a"]);
    });
  });

  test("a retry makes the chosen events pending, and leaves the others dead", async () => {
    await recordRefused("a", "b", "c");
    expect(await inbox.changeContactEvents("retry", { name: "b" })).toBe(1);
    expect(await outboxStates(store)).toEqual({ a: "dead", b: "pending", c: "dead" });
    expect(await inbox.changeContactEvents("retry", {})).toBe(2);
    expect(await inbox.changeContactEvents("retry", {})).toBe(0);
    expect(membersOf(await takeSend(store))).toEqual(["a", "b", "c"]);
  });

  test("a retry takes all of a call that can only be repeated as a whole", async () => {
    await recordGivenUp(["a", "b"], T);
    await recordRefused("c");
    expect(await inbox.changeContactEvents("retry", { name: "a" })).toBe(2);
    expect(await outboxStates(store)).toEqual({ a: "retrying", b: "retrying", c: "dead" });
    expect(membersOf(await takeSend(store, { now: Date.now() }))).toEqual(["a", "b"]);
  });

  test("a retry counts events of such a call that were discarded, which go out with it", async () => {
    await recordGivenUp(["a", "b", "c"], T);
    expect(await inbox.changeContactEvent("discard", "c")).toBe(1);
    expect(await inbox.getContactEvent("c")).toMatchObject({ state: "discarded", callEvents: 3 });
    expect(await inbox.changeContactEvent("retry", "a")).toBe(3);
    expect(await inbox.changeContactEvent("retry", "b")).toBe(0);
    expect(membersOf(await takeSend(store, { now: Date.now() }))).toEqual(["a", "b", "c"]);
  });

  test("a retry of an event whose call waits counts all of the call, and none of it while it is under way", async () => {
    await recordKeys(store, "a", "b");
    const dueAt = Date.now() + 600_000;
    await store.settleSend(sendSettlements.pending(await takeSend(store), dueAt));
    expect(await retryEachContactEvent(inbox, ["a", "b"])).toEqual({ changed: 2, failed: 0 });
    expect(await inbox.changeContactEvent("retry", "a")).toBe(0);
    await takeSend(store, { now: Date.now(), leaseUntil: dueAt });
    expect(await retryEachContactEvent(inbox, ["a", "b"])).toEqual({ changed: 0, failed: 2 });
  });

  test("changes of named events say how many go out, and what was discarded and may still go out", async () => {
    await recordGivenUp(["a", "b", "c"], T);
    await recordRefused("d", "e");
    expect(await discardEachContactEvent(inbox, ["c", "d"])).toEqual({ changed: 2, failed: 0, mayGoOut: 1 });
    expect(await retryEachContactEvent(inbox, ["a", "b", "e", "d"])).toEqual({ changed: 4, failed: 1 });
  });

  test("more events than one page are retried and discarded to the last one", async () => {
    const keys = Array.from({ length: kind.page + 50 }, (_, index) => `key_${index}`);
    await recordKeys(store, ...keys);
    for (let sent = 0; sent < keys.length; sent += 50)
      await settleAll(store, await takeSend(store, { limit: 50 }), "dead");
    expect(await inbox.changeContactEvents("retry", {})).toBe(keys.length);
    for (let sent = 0; sent < keys.length; sent += 50)
      await settleAll(store, await takeSend(store, { limit: 50 }), "dead");
    expect(await inbox.changeContactEvents("discard", {})).toBe(keys.length);
    expect((await countOutbox(store)).dead).toBe(0);
  });

  test("getContactEvent gives the contact event of a key, and nothing for another key", async () => {
    await recordRefused("a", "b");
    expect(await inbox.getContactEvent("a")).toMatchObject({ key: "a", state: "dead", attempts: 1, error: null });
    expect(await inbox.getContactEvent("c")).toBeUndefined();
  });

  test("a settled contact event keeps the number of its attempts", async () => {
    await recordKeys(store, "a", "b");
    await store.settleSend(sendSettlements.pending(await takeSend(store)));
    const second = await takeSend(store, { now: T + 50 });
    const [a = -1, b = -1] = second.events.map(({ seq }) => seq);
    await store.settleSend(sendSettlements.settled(second, [RESULTS.done(a), RESULTS.again(b)]));
    await settleAll(store, await takeSend(store), "dead");
    expect(await outboxOf(store)).toMatchObject([
      { key: "a", state: "done", attempts: 2 },
      { key: "b", state: "dead", attempts: 3 },
    ]);
  });
}
