import { beforeEach, expect, test } from "vitest";
import type { JobChoice } from "#pigeonhole/store/bulk-jobs.js";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import type { Store } from "#pigeonhole/store/store.js";
import { DAY, MINUTE, newEvent, settlements, T } from "../conformance/new-event.js";
import { statesOf } from "../conformance/lease-page.js";
import type { StoreKind } from "../conformance/fixture.js";
import { openBoth } from "./open-both.js";

let store: Store;
let inbox: InboxOperator;

/** An event of which `dead` is dead, `parked` is parked, `done` is done, `later` runs again and `waits` waits. */
async function acceptMixed(id: string, type = "email.received", receivedAt = T): Promise<void> {
  const leased = ["dead", "parked", "done", "later"].map((handler) => ({ handler, leaseUntil: T + MINUTE }));
  const result = await store.accept(newEvent(id, { type, receivedAt, work: [...leased, { handler: "waits" }] }));
  for (const lease of result.kind === "stored" ? result.leases : expect.unreachable()) {
    const { handler } = lease;
    const end =
      handler === "later"
        ? settlements.pending(lease, Date.now() + DAY)
        : settlements[handler as "dead" | "parked" | "done"](lease);
    await store.settle(end.to === "done" ? end : { ...end, error: `no such ${id}` });
  }
}

const countsOf = (pieces: readonly string[]) => ({
  events: new Set(pieces.map((piece) => piece.split(" ")[0])).size,
  work: pieces.length,
});

const acceptNoted = (id: string, receivedAt = T) =>
  store.accept(newEvent(id, { receivedAt, work: [], parked: { reason: "unknown_type", detail: "no such type" } }));

const BEFORE = { dead: "dead", parked: "parked", done: "done", later: "retrying", waits: "pending" };

/** Retry and discard of chosen work, and runs of it before their time, from outside the receiver. */
export function describeStuckWork(kind: StoreKind): void {
  beforeEach(async () => {
    ({ store, inbox } = await openBoth(kind));
  });

  test.each<[JobChoice, string[]]>([
    [{}, ["a dead", "a later", "a parked", "b dead", "b later", "b parked", "n "]],
    [{ state: "dead" }, ["a dead", "b dead"]],
    [{ state: "parked" }, ["a parked", "b parked", "n "]],
    [{ handler: "parked" }, ["a parked", "b parked"]],
    [{ state: "dead", handler: "parked" }, []],
    [{ handler: "later" }, ["a later", "b later"]],
    [{ type: "email.sent" }, ["b dead", "b later", "b parked"]],
    [{ error: "NO SUCH A" }, ["a dead", "a later", "a parked"]],
    [{ error: "unknown_type" }, ["n "]],
    [{ error: "%" }, []],
    [{ since: T + 10 }, ["b dead", "b later", "b parked", "n "]],
    [{ until: T + 10, type: "email.received" }, ["a dead", "a later", "a parked"]],
    [{ since: T + 10, until: T + 20, handler: "later" }, ["b later"]],
    [{ since: T + 10, until: T + 20, state: "dead" }, ["b dead"]],
  ])("%j chooses %j, of which what is to run later runs now", async (choice, chosen) => {
    await acceptMixed("a");
    await acceptMixed("b", "email.sent", T + 10);
    await acceptNoted("n", T + 20);
    const isLater = (piece: string): boolean => piece.endsWith("later");
    const stuck = countsOf(chosen.filter((piece) => !isLater(piece)));
    expect(await inbox.countWork("retry", choice)).toEqual(stuck);
    expect(await inbox.changeWork("discard", choice)).toMatchObject(stuck);
    if (choice.state === undefined) {
      const later = countsOf(chosen.filter(isLater));
      expect(await inbox.countWork("run", choice)).toEqual(later);
      expect(await inbox.changeWork("run", choice)).toMatchObject(later);
    }
    const changed: string[] = [];
    for (const id of ["a", "b", "n"]) {
      const { handlers = [] } = (await inbox.getEvent(id)) ?? {};
      for (const { handler, state, dueAt } of handlers) {
        const runs = handler === "later" && Date.parse(dueAt ?? "") <= Date.now();
        if (runs || state === "discarded") changed.push(`${id} ${handler}`);
      }
    }
    expect(changed).toEqual(chosen);
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
