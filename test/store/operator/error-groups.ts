import { beforeEach, expect, test } from "vitest";
import type { ErrorGroup, ErrorGroupQuery } from "#pigeonhole/store/error-groups.js";
import { SOUGHT_GROUPS } from "#pigeonhole/store/queries/error-groups.js";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import type { Store } from "#pigeonhole/store/store.js";
import { expectCode, DAY, MINUTE, newEvent, settlements, T } from "../conformance/new-event.js";
import { acceptLeased, crash, leasePage } from "../conformance/lease-page.js";
import type { StoreKind } from "../conformance/fixture.js";
import { openBoth } from "./open-both.js";

const iso = (at: number): string => new Date(at).toISOString();

let store: Store;
let inbox: InboxOperator;

interface Failure {
  error?: string;
  to?: "pending" | "dead";
  handler?: string;
  type?: string;
  at?: number;
}

/** An event whose run has failed. */
async function acceptFailed(id: string, failure: Failure = {}): Promise<void> {
  const { error = "Error: no answer", to = "dead", handler = "h", type = "email.sent", at = T } = failure;
  const lease = await acceptLeased(store, id, { type, work: [{ handler, leaseUntil: T + MINUTE }] });
  await store.settle({ ...settlements[to](lease), error, stack: error, at });
}

const leaseAt = async (now: number) => (await leasePage(store, { now, leaseUntil: now + MINUTE, limit: 500 })).work;

/** All work that waits fails once more. */
async function failAgain({ at, error = "Error: no answer" }: { at: number; error?: string }): Promise<void> {
  const stack = `${error}\n    at run (/app/run.js:1:1)\nCaused by: Error: ${at}`;
  for (const lease of await leaseAt(at)) {
    await store.settle({ ...settlements.pending(lease, at + MINUTE), error, stack, at });
  }
}

/** Types of the groups of all pages. */
async function pagesOf(query: ErrorGroupQuery): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor: string | null = null; ;) {
    const { items, nextCursor } = await inbox.listErrorGroups({ ...query, cursor });
    pages.push(items.map(({ type }) => type));
    if (nextCursor === null) return pages;
    cursor = nextCursor;
  }
}

const seen = ({ handler, type, kind, message, events }: ErrorGroup) => [handler, type, kind, message, events];

/** Errors gathered by what they have in common, seen from outside the receiver. */
export function describeErrorGroups(kind: StoreKind): void {
  beforeEach(async () => {
    ({ store, inbox } = await openBoth(kind));
  });

  test("work is gathered by handler, type, kind of error and message, those that failed last first", async () => {
    await acceptFailed("a1", { error: "Error: no order 1", at: T });
    await acceptFailed("a2", { error: "Error: no order 22", at: T + 9 });
    await acceptFailed("b", { error: "TypeError: no order 1", at: T + 1 });
    await acceptFailed("c", { error: "Error: no order 1", handler: "other", at: T + 2 });
    await acceptFailed("d", { error: "Error: no order 1", type: "email.failed", at: T + 3 });
    await acceptFailed("e", { error: "Error: no answer", at: T + 4 });
    const { items, nextCursor } = await inbox.listErrorGroups();
    expect(nextCursor).toBeNull();
    expect(items.map(seen)).toEqual([
      ["h", "email.sent", "Error", "no order …", 2],
      ["h", "email.sent", "Error", "no answer", 1],
      ["h", "email.failed", "Error", "no order …", 1],
      ["other", "email.sent", "Error", "no order …", 1],
      ["h", "email.sent", "TypeError", "no order …", 1],
    ]);
    expect(items[0]).toMatchObject({
      isCapped: false,
      failures: 2,
      states: { pending: 0, retrying: 0, running: 0, dead: 2, parked: 0 },
      firstAt: iso(T),
      lastAt: iso(T + 9),
      example: { id: "a2", state: "dead", reason: "do_not_retry", error: "Error: no order 22" },
    });
  });

  test("groups have the states that lists have, also of work whose last run asked to wait", async () => {
    await acceptFailed("failed", { to: "pending" });
    const lease = await acceptLeased(store, "waits", {
      type: "email.sent",
      work: [{ handler: "h", leaseUntil: T + MINUTE }],
    });
    await store.settle({
      ...settlements.pending(lease),
      error: "Error: no answer",
      stack: "Error",
      wait: { holds: "work", began: T },
    });
    for (const state of ["pending", "retrying"] as const) {
      const [group] = (await inbox.listErrorGroups({ state })).items;
      const { items } = await inbox.listEvents({ state });
      expect(items.map(({ id, state: word }) => [id, word])).toEqual([
        [state === "pending" ? "waits" : "failed", state],
      ]);
      expect(group?.example).toMatchObject({ id: items[0]?.id, state });
      expect(group?.states).toEqual({ pending: 0, retrying: 0, running: 0, dead: 0, parked: 0, [state]: 1 });
    }
  });

  test("what waits, runs again or is dead after the same error is one group until it is done or retried", async () => {
    for (const id of ["a", "b", "c"]) await acceptFailed(id, { to: "pending" });
    await acceptFailed("d");
    const { work } = await leasePage(store, { now: T + 50, limit: 2 });
    const states = async () => (await inbox.listErrorGroups()).items.map((group) => group.states);
    expect(await states()).toEqual([{ pending: 0, retrying: 1, running: 2, dead: 1, parked: 0 }]);
    for (const lease of work) await store.settle(settlements.done(lease));
    expect(await states()).toEqual([{ pending: 0, retrying: 1, running: 0, dead: 1, parked: 0 }]);
    await inbox.changeWork("retry", {});
    expect(await states()).toEqual([{ pending: 0, retrying: 1, running: 0, dead: 0, parked: 0 }]);
  });

  test("a group begins when the first of its events was received, however often they fail", async () => {
    await acceptFailed("a", { to: "pending", at: T + 1 });
    await acceptFailed("b", { to: "pending", at: T + 3 });
    await failAgain({ at: T + DAY });
    await failAgain({ at: T + 2 * DAY });
    const [group = expect.unreachable()] = (await inbox.listErrorGroups()).items;
    expect(group).toMatchObject({ firstAt: iso(T), lastAt: iso(T + 2 * DAY), failures: 6 });
  });

  test("events that were not understood, and work in which processes died, have groups of their own", async () => {
    const parked = { reason: "unknown_type", detail: "no such type" };
    await store.accept(newEvent("n", { type: "email.x", work: [], parked }));
    await acceptLeased(store, "k");
    for (let count = 0; count < 4; count += 1) await crash(store);
    expect((await inbox.listErrorGroups()).items.map(seen)).toEqual(
      expect.arrayContaining([
        ["", "email.x", "unknown_type", "no such type", 1],
        ["h", "email.received", "crash_loop", expect.any(String), 1],
      ]),
    );
  });

  test("a run that the receiver's stop ended is in no group", async () => {
    await store.settle({ ...settlements.pending(await acceptLeased(store, "a")), error: "The receiver stopped." });
    expect((await inbox.listErrorGroups()).items).toEqual([]);
  });

  test("groups are chosen by handler, type, state and time, and counted by steps", async () => {
    await acceptFailed("a1", { at: T });
    await acceptFailed("a2", { at: T + DAY, to: "pending" });
    await acceptFailed("b", { at: T + DAY, handler: "other" });
    const countsOf = async (query: Parameters<InboxOperator["listErrorGroups"]>[0]) =>
      (await inbox.listErrorGroups(query)).items.map(({ handler, events }) => `${handler} ${events}`);
    expect(await countsOf({ handler: "other" })).toEqual(["other 1"]);
    expect(await countsOf({ type: "email.failed" })).toEqual([]);
    expect(await countsOf({ state: "retrying" })).toEqual(["h 1"]);
    expect((await countsOf({ since: T + 1 })).toSorted()).toEqual(["h 1", "other 1"]);
    expect(await countsOf({ until: T + DAY })).toEqual(["h 1"]);
    expect(await inbox.listErrorGroups({ limit: 1 })).toMatchObject({ nextCursor: expect.any(String), items: [{}] });
    const [{ steps } = expect.unreachable()] = (await inbox.listErrorGroups({ handler: "h", stepMs: DAY })).items;
    const day = Math.floor(T / DAY) * DAY;
    expect(steps).toEqual([
      { at: iso(day), events: 1 },
      { at: iso(day + DAY), events: 1 },
    ]);
  });

  test("handlers with failed work are listed once each, in the order of their names", async () => {
    for (const [id, handler] of Object.entries({ a: "two", b: "one", c: "two" })) await acceptFailed(id, { handler });
    await store.accept(newEvent("n", { work: [], parked: { reason: "unknown_type", detail: "" } }));
    await store.accept(newEvent("p", { work: [{ handler: "waits" }] }));
    const failed = async () => (await inbox.listHandlers()).flatMap((each) => (each.hasFailed ? each.handler : []));
    expect(await failed()).toEqual(["one", "two"]);
    await inbox.changeWork("discard", { handler: "two" });
    expect(await failed()).toEqual(["one"]);
  });

  test("groups are read page by page, also those that failed at the same time", async () => {
    for (const type of ["d", "b", "c"]) await acceptFailed(type, { type, at: T + 5 });
    await acceptFailed("x", { type: "b2", at: T + 5, to: "pending" });
    await acceptFailed("a", { type: "a", at: T + 4 });
    await acceptFailed("e", { type: "e", at: T + 6 });
    expect(await pagesOf({ limit: 2 })).toEqual([
      ["e", "b"],
      ["b2", "c"],
      ["d", "a"],
    ]);
    expect(await pagesOf({ limit: 1, state: "dead" })).toEqual([["e"], ["b"], ["c"], ["d"], ["a"]]);
    expect(await pagesOf({ limit: 3, state: "retrying" })).toEqual([["b2"]]);
    // The next page begins where the one before ended, whatever fails meanwhile.
    const { nextCursor: cursor } = await inbox.listErrorGroups({ limit: 2 });
    await acceptFailed("new", { type: "new", at: T + 7 });
    expect((await inbox.listErrorGroups({ limit: 1, cursor })).items).toMatchObject([{ type: "b2" }]);
    for (const wrong of ["x", "1", "1-x", "-1-1"]) {
      await expectCode(inbox.listErrorGroups({ cursor: wrong }), "invalid_argument");
    }
  });

  test("groups of one state are in the order of the last failure of work in that state", async () => {
    await acceptFailed("x1", { type: "x", at: T });
    await acceptFailed("y1", { type: "y", at: T + 1 });
    await acceptFailed("x2", { type: "x", at: T + 2, to: "pending" });
    expect(await pagesOf({ limit: 1, state: "dead" })).toEqual([["y"], ["x"]]);
    expect(await pagesOf({ state: "retrying" })).toEqual([["x"]]);
    expect(await pagesOf({})).toEqual([["x", "y"]]);
  });

  test("the id of a group chooses exactly its work", async () => {
    await acceptFailed("a1", { error: "Error: no order 1" });
    await acceptFailed("a2", { error: "Error: no order 2" });
    await acceptFailed("b", { error: "Error: no answer" });
    await acceptFailed("c", { error: "Error: no order 1", handler: "other" });
    const group = (await inbox.listErrorGroups({ handler: "h" })).items.find(({ events }) => events === 2);
    const { id: errorGroup } = group ?? expect.unreachable();
    expect((await inbox.listEvents({ errorGroup })).items.map(({ id }) => id)).toEqual(["a2", "a1"]);
    expect((await inbox.listEvents({ errorGroup, state: "done" })).items).toEqual([]);
    expect(await inbox.countWork("retry", { errorGroup })).toEqual({ events: 2, work: 2 });
    expect(await inbox.changeWork("discard", { errorGroup })).toMatchObject({ events: 2, work: 2 });
    expect((await inbox.listErrorGroups()).items.map(({ events }) => events)).toEqual([1, 1]);
    await expectCode(inbox.listEvents({ errorGroup: "W10" }), "invalid_argument");
  });

  test("events are chosen by their ids", async () => {
    for (const id of ["a", "b", "c"]) await acceptFailed(id);
    expect((await inbox.listEvents({ ids: ["c", "a", "x"] })).items.map(({ id }) => id)).toEqual(["c", "a"]);
    expect((await inbox.listEvents({ ids: [] })).items).toEqual([]);
    expect(await inbox.countWork("retry", { ids: ["c", "a"] })).toEqual({ events: 2, work: 2 });
    await expectCode(inbox.listEvents({ ids: Array.from({ length: 501 }, String) }), "invalid_argument");
  });
}

/** The same of so many that not all are looked for. */
export function describeManyErrorGroups(kind: StoreKind): void {
  beforeEach(async () => {
    ({ store, inbox } = await openBoth(kind));
  });

  test("of very many groups, those that failed last are listed, whatever their names are", async () => {
    const park = (type: string, receivedAt: number) =>
      store.accept(newEvent(type, { type, receivedAt, work: [], parked: { reason: "unknown_type", detail: "" } }));
    await Promise.all(Array.from({ length: SOUGHT_GROUPS }, (_, index) => park(`a.${index}`, T)));
    const typesOf = async (query: ErrorGroupQuery) => {
      const { items, nextCursor } = await inbox.listErrorGroups({ limit: 1, ...query });
      return [items.map(({ type }) => type), nextCursor !== null];
    };
    expect(await typesOf({ type: "a.1" })).toEqual([["a.1"], false]);
    await park("z.last", T + DAY);
    expect(await typesOf({})).toEqual([["z.last"], true]);
    expect(await typesOf({ type: "z.last" })).toEqual([["z.last"], false]);
    expect(await typesOf({ type: "a.1" })).toEqual([["a.1"], false]);
    expect(await typesOf({ since: T + 1 })).toEqual([["z.last"], false]);
    expect(await typesOf({ since: T + 1, handler: "", state: "parked" })).toEqual([["z.last"], false]);
    const all = Array.from({ length: SOUGHT_GROUPS }, (_, index) => `a.${index}`).toSorted();
    expect(await pagesOf({ limit: 400 })).toEqual([
      ["z.last", ...all.slice(0, 399)],
      all.slice(399, 799),
      all.slice(799),
    ]);
  });
}
