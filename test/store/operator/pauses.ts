import { isoTime } from "#pigeonhole/base/iso-time.js";
import { beforeEach, expect, test } from "vitest";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import type { Store } from "#pigeonhole/store/store.js";
import { newEvent, settlements } from "../conformance/new-event.js";
import { acceptLeased } from "../conformance/lease-page.js";
import type { StoreKind } from "../conformance/fixture.js";
import { openAnother, openBoth } from "./open-both.js";
import { countWork } from "../../support/operate.js";

let store: Store;
let inbox: InboxOperator;
let place: string;

/** What the processes of a store share beside its work. */
export function describePauses(kind: StoreKind): void {
  beforeEach(async () => {
    ({ store, inbox, place } = await openBoth(kind));
  });

  test("a handler stays paused until it is resumed, and all see it", async () => {
    expect(await inbox.listHandlers()).toEqual([]);
    expect([await inbox.pauseHandler("b", "ann"), await inbox.pauseHandler("a", "bob")]).toEqual([true, true]);
    expect(await inbox.pauseHandler("b", "bob")).toBe(false);
    const since = expect.any(String) as string;
    const both = [
      { handler: "a", since, by: "bob" },
      { handler: "b", since, by: "ann" },
    ];
    const stored = await store.listPaused();
    expect(stored).toEqual(both);
    const glance = await store.glance?.({ handlers: [], now: 0 });
    if (glance) expect(glance.paused.toSorted()).toEqual(["a", "b"]);
    expect(await inbox.listHandlers()).toEqual(
      stored.map(({ handler, ...paused }) => ({ handler, maxAttempts: null, hasFailed: false, paused })),
    );
    expect([await inbox.resumeHandler("b"), await inbox.resumeHandler("b")]).toEqual([true, false]);
    expect((await store.listPaused()).map(({ handler }) => handler)).toEqual(["a"]);
  });

  test("work of a paused handler is counted, and is not due until the handler is resumed", async () => {
    const receivedMs = Date.now() - 60_000;
    const receivedAt = isoTime(receivedMs);
    await store.accept(newEvent("evt_1", { receivedAt: receivedMs, work: [{ handler: "a" }, { handler: "b" }] }));
    await inbox.pauseHandler("a", "ann");
    const counted = async () => [await countWork(store, Date.now()), (await inbox.overview()).events];
    expect(await counted()).toMatchObject([{ oldestDueAt: receivedAt }, { oldestDueAt: receivedAt }]);
    await inbox.pauseHandler("b", "ann");
    const waiting = { pending: 2, pendingByHandler: { a: 1, b: 1 }, oldestOpenReceivedAt: receivedAt };
    const paused = { ...waiting, oldestDueAt: null };
    expect(await counted()).toMatchObject([paused, paused]);
    await inbox.resumeHandler("a");
    const resumed = { ...waiting, oldestDueAt: receivedAt };
    expect(await counted()).toMatchObject([resumed, resumed]);
  });

  test("the handlers that receivers have had, that have failed work, or that are paused are listed", async () => {
    expect(await inbox.listHandlers()).toEqual([]);
    await store.keepPolicies([
      { handler: "billing", maxAttempts: 3, types: [] },
      { handler: "audit", maxAttempts: 3, types: [] },
    ]);
    const failed = settlements.dead(await acceptLeased(store, "a"));
    await store.settle({ ...failed, stack: "it failed" });
    await store.accept(newEvent("n", { work: [], parked: { reason: "unknown_type", detail: "" } }));
    await inbox.pauseHandler("misspelt", "ann");
    expect(await inbox.listHandlers()).toMatchObject([
      { handler: "audit", maxAttempts: 3, hasFailed: false, paused: null },
      { handler: "billing", maxAttempts: 3, hasFailed: false, paused: null },
      { handler: failed.handler, maxAttempts: null, hasFailed: true, paused: null },
      { handler: "misspelt", maxAttempts: null, hasFailed: false, paused: { by: "ann" } },
    ]);
  });

  test("all who ask for the secret of the dashboard at once get the same", async () => {
    const other = await openAnother(place);
    const secrets = await Promise.all([inbox, other, inbox, other].map((each) => each.dashboardSecret()));
    expect(new Set(secrets.map((secret) => Buffer.from(secret).toString("hex"))).size).toBe(1);
    expect(secrets[0]).toHaveLength(32);
  });
}
