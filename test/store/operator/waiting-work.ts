import { beforeEach, expect, test } from "vitest";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import type { Store } from "#pigeonhole/store/store.js";
import { acceptLeased, DAY, newEvent, settlements, statesOf } from "../conformance/fixture.js";
import { errorOf } from "../../support/error-of.js";
import { type OperatorKind, openBoth } from "./operator-kind.js";

let store: Store;
let inbox: InboxOperator;

/** An event whose run has failed; the next one is a day away. */
async function acceptFailed(id: string, type = "email.received"): Promise<void> {
  await store.settle(settlements.pending(await acceptLeased(store, id, { type }), Date.now() + DAY));
}

/** Work that waits for its next run, seen from outside the receiver. */
export function describeWaitingWork(kind: OperatorKind): void {
  beforeEach(async () => {
    ({ store, inbox } = await openBoth(kind));
  });

  test("the waiting work of an event is due at once and keeps its attempts", async () => {
    await acceptFailed("a");
    await acceptFailed("b");
    expect(await inbox.changeEvent("run", "a")).toEqual({ work: 1, readAgain: 0 });
    expect(await inbox.changeEvent("run", "a")).toEqual({ work: 0, readAgain: 0 });
    const [a, b] = await Promise.all(["a", "b"].map(async (id) => (await inbox.getEvent(id))?.handlers[0]));
    expect(a).toMatchObject({ state: "pending", attempts: 1 });
    expect(Math.abs((a?.dueAt ?? 0) - Date.now())).toBeLessThan(DAY / 2);
    expect(b?.dueAt).toBeGreaterThan(Date.now() + DAY / 2);
  });

  test("an event that is not in the inbox is refused", async () => {
    expect(await errorOf(() => inbox.changeEvent("run", "missing"))).toMatchObject({ code: "not_found" });
  });

  test("chosen work is counted and run, and nothing else", async () => {
    const count = kind.page + 50;
    for (let index = 0; index < count; index += 1) await acceptFailed(`evt_${index}`);
    await acceptFailed("sent", "email.sent");
    await store.settle(settlements.dead(await acceptLeased(store, "dead")));
    await store.accept(newEvent("due"));
    const all = { events: count, work: count };
    expect(await inbox.countWork("run", { type: "email.received" })).toEqual(all);
    expect(await inbox.countWork("run", {})).toEqual({ events: count + 1, work: count + 1 });
    expect(await inbox.changeWork("run", { type: "email.received" })).toMatchObject(all);
    expect(await inbox.countWork("run", {})).toEqual({ events: 1, work: 1 });
    expect(await statesOf(store, "dead")).toEqual({ h: "dead" });
  });
}
