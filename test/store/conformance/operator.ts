import { describe, expect, test } from "vitest";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import { type Fixture, ENDS_WITH_STORE } from "./fixture.js";
import { T, newEvent, settlements } from "./new-event.js";
import { acceptAll, acceptLeased } from "./lease-page.js";
import { operate } from "../../support/operate.js";
import { isoTime } from "#pigeonhole/base/iso-time.js";

export function describeOpenOperator(fixture: Fixture): void {
  const operator = (): InboxOperator => fixture.store.openOperator(Date.now);

  describe("the operator of an open store", () => {
    test("it reads the bodies of several events, and leaves out large and unknown ones", async () => {
      const { store } = fixture;
      await acceptAll(store, ["a", "b"]);
      await acceptAll(store, ["c"], { body: Buffer.alloc(2_000, "x") });
      const bodies = await operator().readBodies({ ids: ["a", "b", "c", "unknown"], maxBytes: 1_000 });
      expect([...bodies.keys()].toSorted()).toEqual(["a", "b"]);
      expect(Buffer.from(bodies.get("b") ?? []).equals(newEvent("b").body)).toBe(true);
      expect(await operator().readBodies({ ids: [], maxBytes: 1_000 })).toEqual(new Map());
    });

    test("a list goes on behind any of its rows, whatever comes or changes meanwhile", async () => {
      const { store } = fixture;
      const ids = ["e1", "e2", "e3", "e4", "e5"];
      for (const id of ids) await store.accept(newEvent(id));
      const inbox = operator();
      const query = { state: "pending", patienceMs: 1_000 } as const;
      const { items, cursors } = await inbox.listEvents({ ...query, limit: 4 });
      expect(cursors).toHaveLength(4);
      await store.accept(newEvent("e6"));
      await inbox.changeEvent("discard", "e5");
      await inbox.changeEvent("discard", "e3");
      const pending = ["e4", "e2", "e1"];
      for (const [index, { id }] of items.entries()) {
        const rest = await inbox.listEvents({ ...query, cursor: cursors[index] });
        expect(rest.items.map((each) => each.id)).toEqual(pending.filter((each) => each < id));
      }
    });

    test("once the store is closed, its calls reject with stopped", async () => {
      const inbox = operator();
      await inbox.listEvents();
      const underWay = inbox.listEvents().catch((error: unknown) => error);
      await fixture.store.close();
      const ended = await underWay;
      if (ended instanceof Error) expect(ended).toMatchObject({ code: "stopped" });
      await expect(inbox.listEvents()).rejects.toMatchObject({ code: "stopped" });
    });
  });
}

export function describePolicies(fixture: Fixture): void {
  const mostOf = async (id: string): Promise<(number | null)[]> =>
    (await operate(fixture.store).getEvent(id))?.handlers.map(({ maxAttempts }) => maxAttempts) ?? [];

  test.each(["pending", "running", "done", "dead", "parked", "discarded"] as const)(
    "keepPolicies has the attempts of a policy shown with work that is %s, also where it is listed",
    async (state) => {
      const { store } = fixture;
      const lease = await acceptLeased(store, "evt_1");
      if (state !== "running") await store.settle(settlements[state === "discarded" ? "dead" : state](lease));
      if (state === "discarded") await operate(store).changeEvent("discard", "evt_1");
      expect(await mostOf("evt_1")).toEqual([null]);
      await store.keepPolicies([{ handler: "h", maxAttempts: 14, types: [] }]);
      expect(await mostOf("evt_1")).toEqual([14]);
      expect(await operate(store).listEvents({})).toMatchObject({ items: [{ handlers: [{ maxAttempts: 14 }] }] });
    },
  );

  test("keepPolicies replaces the policies that it is given, and leaves the others", async () => {
    const { store } = fixture;
    await store.accept(newEvent("evt_1", { work: ["a", "b", "c"].map((handler) => ({ handler })) }));
    await store.keepPolicies([
      { handler: "a", maxAttempts: 1, types: [] },
      { handler: "b", maxAttempts: 14, types: [] },
    ]);
    await store.keepPolicies([{ handler: "b", maxAttempts: 3, types: [] }]);
    await store.keepPolicies([]);
    expect(await mostOf("evt_1")).toEqual([1, 3, null]);
  });

  test("an event that was not understood has no policy", async () => {
    const { store } = fixture;
    await store.keepPolicies([{ handler: "h", maxAttempts: 14, types: [] }]);
    await store.accept(newEvent("raw:1", { work: [], parked: { reason: "not_json", detail: "" } }));
    expect(await mostOf("raw:1")).toEqual([null]);
  });

  test("keepPolicies keeps them for the next process", async ({ skip }) => {
    skip(!fixture.kind.outlives, ENDS_WITH_STORE);
    await fixture.store.accept(newEvent("evt_1"));
    await fixture.store.keepPolicies([{ handler: "h", maxAttempts: 14, types: [] }]);
    await fixture.reopen();
    expect(await mostOf("evt_1")).toEqual([14]);
  });
}

const HOUR = 3_600_000;
const ENDPOINT = { endpointId: "whe_1", forMs: HOUR };

export function describeRepairRounds(fixture: Fixture): void {
  const claim = (now: number, of = ENDPOINT) => operate(fixture.store, now).claimRepair(of);

  test("of several processes one has the round, and the next when it is due", async () => {
    for (const now of [T, T + HOUR]) {
      const claims = await Promise.all([claim(now), claim(now), claim(now)]);
      expect(claims.filter(({ isClaimed }) => isClaimed)).toHaveLength(1);
      expect(new Set(claims.map(({ dueInMs }) => dueInMs))).toEqual(new Set([HOUR]));
      expect(await claim(now + HOUR - 1)).toMatchObject({ isClaimed: false, dueInMs: 1 });
    }
  });

  test.each([
    ["an earlier time, since the clock was set back", T - 1, HOUR],
    ["a shorter time", T, HOUR - 1],
  ])("a round that is due later than a claim lasts is claimed: with %s", async (_, now, forMs) => {
    await claim(T);
    expect(await claim(now, { ...ENDPOINT, forMs })).toMatchObject({ isClaimed: true, dueInMs: forMs });
  });

  test("each endpoint has rounds of its own", async () => {
    await claim(T);
    expect(await claim(T, { ...ENDPOINT, endpointId: "whe_2" })).toMatchObject({ isClaimed: true });
  });

  test("endRepair keeps what a round came to, when the next is due, and where it begins, until that moves", async () => {
    const round = { endpointId: "whe_1", missing: 3, replayed: 2, stillMissing: 1, refused: "failed" };
    const rounds = async () => (await operate(fixture.store, T).overview()).repairs;
    expect(await claim(T)).toMatchObject({ isClaimed: true, comparedUntil: undefined });
    expect(await rounds()).toEqual([]);
    const operator = operate(fixture.store, T + 5);
    await operator.endRepair({ ...round, dueInMs: 10, comparedUntil: T - 7 });
    expect(await rounds()).toEqual([{ ...round, at: isoTime(T + 5) }]);
    expect(await claim(T + 14)).toMatchObject({ isClaimed: false, dueInMs: 1 });
    await operator.endRepair({ ...round, refused: null, dueInMs: 10, comparedUntil: undefined });
    expect(await claim(T + 15)).toMatchObject({ isClaimed: true, comparedUntil: T - 7 });
    expect(await rounds()).toMatchObject([{ refused: null }]);
  });
}
