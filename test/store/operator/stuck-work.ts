import { beforeEach, expect, test } from "vitest";
import type { JobChoice } from "#pigeonhole/store/bulk-jobs.js";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import type { Store } from "#pigeonhole/store/store.js";
import { MINUTE, newEvent, settlements, T } from "../conformance/new-event.js";
import { statesOf } from "../conformance/lease-page.js";
import type { StoreKind } from "../conformance/fixture.js";
import { openBoth } from "./open-both.js";

let store: Store;
let inbox: InboxOperator;

/** An event of which `dead` is dead, `parked` is parked, `done` is done and `waits` waits. */
async function acceptMixed(id: string, type = "email.received", receivedAt = T): Promise<void> {
  const leased = (["dead", "parked", "done"] as const).map((handler) => ({ handler, leaseUntil: T + MINUTE }));
  const result = await store.accept(newEvent(id, { type, receivedAt, work: [...leased, { handler: "waits" }] }));
  for (const lease of result.kind === "stored" ? result.leases : expect.unreachable()) {
    const error = `no such ${id}`;
    const end = settlements[lease.handler as "dead" | "parked" | "done"](lease);
    await store.settle(end.to === "done" ? end : { ...end, error });
  }
}

const acceptNoted = (id: string, receivedAt = T) =>
  store.accept(newEvent(id, { receivedAt, work: [], parked: { reason: "unknown_type", detail: "no such type" } }));

const BEFORE = { dead: "dead", parked: "parked", done: "done", waits: "pending" };

/** Retry and discard of chosen work, from outside the receiver. */
export function describeStuckWork(kind: StoreKind): void {
  beforeEach(async () => {
    ({ store, inbox } = await openBoth(kind));
  });

  test.each<[JobChoice, string[]]>([
    [{}, ["a dead", "a parked", "b dead", "b parked", "n "]],
    [{ state: "dead" }, ["a dead", "b dead"]],
    [{ state: "parked" }, ["a parked", "b parked", "n "]],
    [{ handler: "parked" }, ["a parked", "b parked"]],
    [{ state: "dead", handler: "parked" }, []],
    [{ type: "email.sent" }, ["b dead", "b parked"]],
    [{ error: "NO SUCH A" }, ["a dead", "a parked"]],
    [{ error: "unknown_type" }, ["n "]],
    [{ error: "%" }, []],
    [{ since: T + 10 }, ["b dead", "b parked", "n "]],
    [{ until: T + 10 }, ["a dead", "a parked"]],
    [{ since: T + 10, until: T + 20, state: "dead" }, ["b dead"]],
  ])("%j chooses %j", async (choice, chosen) => {
    await acceptMixed("a");
    await acceptMixed("b", "email.sent", T + 10);
    await acceptNoted("n", T + 20);
    const events = new Set(chosen.map((piece) => piece.split(" ")[0])).size;
    expect(await inbox.countWork("retry", choice)).toEqual({ events, work: chosen.length });
    expect(await inbox.changeWork("discard", choice)).toMatchObject({ events, work: chosen.length });
    const ended: string[] = [];
    for (const id of ["a", "b", "n"]) {
      const { handlers = [] } = (await inbox.getEvent(id)) ?? {};
      for (const { handler, state } of handlers) if (state === "discarded") ended.push(`${id} ${handler}`);
    }
    expect(ended).toEqual(chosen);
  });

  test("a retry makes the chosen work pending and leaves the other work of its events", async () => {
    await acceptMixed("a");
    expect(await inbox.changeWork("retry", { handler: "dead" })).toEqual({
      events: 1,
      work: 1,
      readAgain: 0,
    });
    expect(await statesOf(store, "a")).toEqual({ ...BEFORE, dead: "pending" });
    expect(await inbox.changeWork("retry", {})).toEqual({ events: 1, work: 1, readAgain: 0 });
    expect(await statesOf(store, "a")).toEqual({ ...BEFORE, dead: "pending", parked: "pending" });
    expect(await inbox.changeWork("retry", {})).toEqual({ events: 0, work: 0, readAgain: 0 });
  });

  test("the retry of an event that no handler got asks the receiver to read it again, and parks it until then", async () => {
    await store.accept(newEvent("a", { work: [] }));
    const asked = { work: 0, readAgain: 1 };
    expect([await inbox.changeEvent("retry", "a"), await inbox.changeEvent("retry", "a")]).toEqual([asked, asked]);
    expect(await inbox.getEvent("a")).toMatchObject({
      state: "parked",
      handlers: [{ handler: "", reason: "no_handler", retryRequestedAt: expect.any(String) as string }],
    });
    const [requested = expect.unreachable()] = await store.listStuck({ state: "requested", limit: 9, afterSeq: 0 });
    await store.replan({ seq: requested.seq, handlers: ["new"], now: T, requested: true });
    expect(await statesOf(store, "a")).toEqual({ new: "pending" });
    expect(await store.listStuck({ state: "requested", limit: 9, afterSeq: 0 })).toEqual([]);
  });

  test("more work than one page is retried to the last piece, and read again where it was not understood", async () => {
    const count = 0.6 * kind.page;
    for (let index = 0; index < count; index += 1) await acceptMixed(`evt_${index}`);
    for (let index = 0; index < count; index += 1) await acceptNoted(`note_${index}`);
    expect(await inbox.changeWork("retry", {})).toEqual({
      events: 2 * count,
      work: 2 * count,
      readAgain: count,
    });
    expect(await inbox.countWork("retry", {})).toEqual({ events: count, work: count });
    expect(await store.listStuck({ state: "requested", limit: 500, afterSeq: 0 })).toHaveLength(count);
  });

  test("hasReceiver says whether a receiver runs handlers on the database", async () => {
    expect(await inbox.hasReceiver()).toBe(true);
    await store.close();
    expect(await inbox.hasReceiver()).toBe(false);
  });
}
