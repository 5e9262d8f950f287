import { EVENT_STATES } from "#pigeonhole/store/state-words.js";
import { expect, test } from "vitest";
import { handlerView } from "../../support/event-detail.js";
import { isoTime } from "#pigeonhole/base/iso-time.js";
import type { EventQuery } from "#pigeonhole/store/inbox-view.js";
import { expectCode, expectLease, MINUTE, newEvent, settlements, T, TARGETS } from "./new-event.js";
import { acceptAll, acceptFor, acceptLeased } from "./lease-page.js";
import { type Fixture } from "./fixture.js";
import { errorOf } from "../../support/error-of.js";
import { countWork, operate } from "../../support/operate.js";

export function describeInspect(fixture: Fixture): void {
  async function listIds(query: EventQuery): Promise<string[]> {
    return (await operate(fixture.store).listEvents(query)).items.map(({ id }) => id);
  }

  /** One event in each state, named after it, and one without work. */
  async function acceptOneInEachState(): Promise<void> {
    const { store } = fixture;
    await acceptLeased(store, "running");
    for (const to of TARGETS) {
      await store.settle(settlements[to](await acceptLeased(store, to === "pending" ? "retrying" : to)));
    }
    await store.accept(newEvent("discarded"));
    await operate(store).changeEvent("discard", "discarded");
    await store.accept(newEvent("pending"));
    await store.accept(newEvent("unhandled", { work: [] }));
  }

  test("list shows events newest first, without their bodies", async () => {
    await acceptAll(fixture.store, ["a", "b", "c"]);
    const page = await operate(fixture.store).listEvents({});
    expect(page.items.map(({ id }) => id)).toEqual(["c", "b", "a"]);
    expect(page.nextCursor).toBeNull();
    expect(page.items[0]).toEqual({
      id: "c",
      source: "",
      type: "email.received",
      test: false,
      receivedAt: isoTime(T),
      signedAt: isoTime(T - 1_000),
      state: "pending",
      handlers: [{ ...handlerView("h"), failed: undefined, steps: undefined, dueAt: isoTime(T) }],
    });
  });

  test.each(EVENT_STATES)("list filters by the state %s", async (state) => {
    await acceptOneInEachState();
    expect(await listIds({ state })).toEqual([state]);
    expect(await operate(fixture.store).listEvents({ state })).toMatchObject({ items: [{ state }] });
  });

  test.each(["ded", "", null])("list refuses the unknown state %j", async (state) => {
    await expectCode(operate(fixture.store).listEvents({ state: state as "done" }), "invalid_argument");
    const stuck = { state: state as "dead", limit: 1, afterSeq: 0 };
    await expectCode(fixture.store.listStuck(stuck), "invalid_argument");
  });

  test("list filters by source, and one event is found by the service's id", async () => {
    await acceptAll(fixture.store, ["evt_1", "acme/evt_1", "beta/evt_1", "beta/acme/evt_1", "/acme/evt_1"]);
    expect(await listIds({ source: "beta" })).toEqual(["beta/acme/evt_1", "beta/evt_1"]);
    expect(await listIds({ source: "acme" })).toEqual(["acme/evt_1"]);
    expect(await listIds({ source: "" })).toEqual(["/acme/evt_1", "evt_1"]);
    expect(await listIds({ source: "ac" })).toEqual([]);
    const operator = operate(fixture.store);
    const found = async (id: string) => (await operator.getEvent(id))?.id;
    expect(await found("evt_1")).toBe("evt_1");
    expect(await found("beta/evt_1")).toBe("beta/evt_1");
    // Of a source, and of none.
    expect(await found("acme/evt_1")).toBe("acme/evt_1");
    await operator.changeEvent("discard", "acme/evt_1");
    expect(await listIds({ state: "discarded" })).toEqual(["acme/evt_1"]);
    await acceptAll(fixture.store, ["acme/evt_2", "beta/evt_2"]);
    expect(await found("evt_2")).toBe("beta/evt_2");
    const refusalOf = (id: string) => errorOf(() => operator.changeEvent("retry", id));
    const place = operator.database;
    expect(await refusalOf("evt_2")).toMatchObject({
      code: "not_found",
      message: `No event with id "evt_2" is in ${place}. Named sources have it: give the whole id, "beta/evt_2" or "acme/evt_2".`,
    });
    expect(await refusalOf("vt_2")).toMatchObject({ message: `No event with id "vt_2" is in ${place}.` });
    expect(await found("vt_2")).toBeUndefined();
  });

  test("list filters by type, and by both", async () => {
    await acceptAll(fixture.store, ["a"], { type: "email.sent" });
    await acceptAll(fixture.store, ["b", "c"]);
    await acceptLeased(fixture.store, "d", { type: "email.sent" });
    expect(await listIds({ type: "email.sent" })).toEqual(["d", "a"]);
    expect(await listIds({ type: "email.sent", state: "pending" })).toEqual(["a"]);
    expect(await listIds({ type: "" })).toEqual([]);
  });

  test.each<[EventQuery, string[]]>([
    [{ handler: "h" }, ["pending", "discarded", "parked", "dead", "retrying", "done", "running"]],
    [{ handler: "h", state: "done" }, ["done"]],
    [{ handler: "h", state: "running" }, ["running"]],
    [{ handler: "other" }, []],
    [{ handler: "other", state: "dead" }, []],
    [{ error: "" }, ["parked", "dead", "retrying"]],
    [{ error: "DO_not_retry" }, ["dead"]],
    [{ error: "do_not_retry", state: "parked" }, []],
    [{ error: "do_not_retry", state: "done" }, []],
    [{ error: "", state: "discarded" }, []],
    [{ error: "%" }, []],
    [{ since: T }, ["unhandled", "pending", "discarded", "parked", "dead", "retrying", "done", "running"]],
    [{ since: T + 1 }, []],
    [{ until: T }, []],
    [{ until: T + 1, state: "dead", type: "email.received", handler: "h" }, ["dead"]],
  ])("list of %j has the events %j", async (query, ids) => {
    await acceptOneInEachState();
    expect(await listIds(query)).toEqual(ids);
  });

  test("list finds an event only by one piece of work that fits all of the filter", async () => {
    const [ofH, ofI] = await acceptFor(fixture.store, "evt_1", ["h", "i"]);
    await fixture.store.settle(settlements.dead(expectLease(ofH)));
    await fixture.store.settle(settlements.done(expectLease(ofI)));
    expect(await listIds({ state: "dead", handler: "h" })).toEqual(["evt_1"]);
    expect(await listIds({ state: "dead", handler: "i" })).toEqual([]);
    expect(await listIds({ state: "done", handler: "h" })).toEqual([]);
    expect(await listIds({ handler: "i" })).toEqual(["evt_1"]);
    expect(await listIds({ handler: "i", error: "do_not_retry" })).toEqual([]);
  });

  test.each([1, 2, 3, 4, 5, 6])("list in pages of %i shows each event once, even if new ones arrive", async (limit) => {
    await acceptAll(fixture.store, ["a", "b", "c", "d", "e"]);
    const ids: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await operate(fixture.store).listEvents({ limit, ...(cursor !== undefined && { cursor }) });
      ids.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
      await fixture.store.accept(newEvent(`new ${ids.length}`));
    } while (cursor !== null);
    expect(ids).toEqual(["e", "d", "c", "b", "a"]);
  });

  test("list has 50 events on a page by default", async () => {
    await Promise.all(Array.from({ length: 51 }, (_, index) => fixture.store.accept(newEvent(`evt_${index}`))));
    expect(await listIds({})).toHaveLength(50);
    expect(await listIds({ limit: 500 })).toHaveLength(51);
  });

  test.each<EventQuery>([
    { limit: 0 },
    { limit: 501 },
    { limit: 1.5 },
    { limit: Number.NaN },
    { limit: -1 },
    { cursor: "" },
    { cursor: "x" },
    { cursor: "1 OR 1=1" },
    { cursor: "-1" },
  ])("list refuses the filter %j", async (query) => {
    await expectCode(
      operate(fixture.store).listEvents(query),
      "limit" in query ? "invalid_option" : "invalid_argument",
    );
  });

  test.each(["dead", "parked"] as const)(
    "listStuck lists events with %s work once each, oldest first, in pages",
    async (state) => {
      const { store } = fixture;
      await acceptOneInEachState();
      for (const id of ["x", "y"])
        for (const lease of await acceptFor(store, id, ["h", "i"])) await store.settle(settlements[state](lease));
      const first = await store.listStuck({ state, limit: 2, afterSeq: 0 });
      expect(first.map(({ id }) => id)).toEqual([state, "x"]);
      const afterSeq = first[1]?.seq ?? -1;
      expect((await operate(store).getEvent("x"))?.seq).toBe(afterSeq);
      expect((await store.listStuck({ state, limit: 2, afterSeq })).map(({ id }) => id)).toEqual(["y"]);
    },
  );

  test("listStuck lists events that were not understood as parked", async () => {
    await fixture.store.accept(newEvent("raw:1", { work: [], parked: { reason: "not_json", detail: "" } }));
    expect(await fixture.store.listStuck({ state: "parked", limit: 9, afterSeq: 0 })).toMatchObject([{ id: "raw:1" }]);
    expect(await fixture.store.listStuck({ state: "dead", limit: 9, afterSeq: 0 })).toEqual([]);
  });

  test("counts of an empty store are zero", async () => {
    expect(await countWork(fixture.store, T)).toEqual({
      pending: 0,
      retrying: 0,
      running: 0,
      dead: 0,
      parked: 0,
      done: 0,
      oldestOpenReceivedAt: null,
      newestReceivedAt: null,
      oldestDueAt: null,
      pendingByHandler: {},
    });
  });

  test("counts count pieces of work, not events", async () => {
    await acceptOneInEachState();
    await fixture.store.accept(newEvent("two", { work: [{ handler: "h" }, { handler: "i" }] }));
    await fixture.store.accept(newEvent("raw:1", { work: [], parked: { reason: "not_json", detail: "" } }));
    expect(await countWork(fixture.store, T)).toMatchObject({
      pending: 3,
      retrying: 1,
      running: 1,
      dead: 1,
      parked: 2,
      done: 1,
      pendingByHandler: { h: 3, i: 1 },
    });
  });

  test("counts include work with any handler name", async () => {
    await fixture.store.accept(newEvent("evt_1", { work: [{ handler: "__proto__" }, { handler: "toString" }] }));
    const { pendingByHandler } = await countWork(fixture.store, T + MINUTE);
    expect(new Map(Object.entries(pendingByHandler))).toEqual(
      new Map([
        ["__proto__", 1],
        ["toString", 1],
      ]),
    );
  });
}
