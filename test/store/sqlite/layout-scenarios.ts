import type { NewEvent, Store } from "#pigeonhole/store/store.js";
import type { Lease } from "#pigeonhole/store/work.js";
import { expect } from "vitest";
import {
  DAY,
  MINUTE,
  NOTHING_TO_PRUNE,
  T,
  expectLease,
  leasePage,
  newEvent,
  settlements,
  statesOf,
} from "../conformance/fixture.js";
import { accept, acceptMany, leasedFor, type Scene } from "./layout-scene.js";

/** What must hold of the file, shown on one build of the package. */
export interface Scenario {
  name: string;
  run(scene: Scene): Promise<void>;
}

/** Settles in one batch, in the order given. */
const settleDone = async (store: Store, leases: readonly Lease[]): Promise<void> => {
  const results = await Promise.all(leases.map((lease) => store.settle(settlements.done(lease))));
  expect(results).toEqual(leases.map(() => "settled"));
};

/** A batch that changes nothing of its own, and brings the low-water mark up to date. */
const tick = (store: Store): Promise<unknown> => store.counts(T);

/**
 * What may lie between two events that are marked together: the states of its handlers, and those after the process has
 * died.
 */
const HOLES: Record<
  string,
  {
    event?: Partial<NewEvent>;
    end?: (store: Store, lease: Lease) => Promise<unknown>;
    states: Record<string, string>;
    statesAfterDeath?: Record<string, string>;
  }
> = {
  "is another handler's": {
    event: leasedFor("i"),
    end: (store, lease) => store.settle(settlements.done(lease)),
    states: { i: "done" },
  },
  "has no handler": { event: { work: [] }, states: {} },
  "was not understood": {
    event: { work: [], parked: { reason: "unknown_type", detail: "no such type" } },
    states: { "": "parked" },
  },
  waits: { event: { work: [{ handler: "h" }] }, states: { h: "pending" } },
  "still runs": { states: { h: "leased" }, statesAfterDeath: { h: "pending" } },
  failed: { end: (store, lease) => store.settle(settlements.pending(lease)), states: { h: "pending" } },
  "is dead": { end: (store, lease) => store.settle(settlements.dead(lease)), states: { h: "dead" } },
  "was parked": { end: (store, lease) => store.settle(settlements.parked(lease)), states: { h: "parked" } },
  "was given back": { end: (store, lease) => store.release([lease], T), states: { h: "pending" } },
  "was renewed": {
    end: (store, lease) => store.renew([lease], T + DAY),
    states: { h: "leased" },
    statesAfterDeath: { h: "pending" },
  },
};

const MARKS: Scenario[] = [
  {
    name: "events that are settled together in a row have one mark",
    async run(scene) {
      const store = await scene.open();
      await settleDone(store, await acceptMany(store, 5));
      expect(scene.marks()).toEqual([["h", 1, 5, null]]);
      expect(scene.rows()).toEqual([]);
      expect(scene.look("SELECT * FROM inbox_done")).toEqual([]);
    },
  },
  {
    name: "a mark shows who is done, when, and at the first try",
    async run(scene) {
      const store = await scene.open();
      const leases = await acceptMany(store, 3);
      await settleDone(store, [expectLease(leases[0]), expectLease(leases[2])]);
      const done = { handler: "h", state: "done", attempts: 1, settledAt: T + 5, discarded: false };
      expect((await store.get("evt_1"))?.handlers).toMatchObject([done]);
      expect((await store.get("evt_3"))?.handlers).toMatchObject([done]);
      expect((await store.get("evt_2"))?.handlers).toMatchObject([{ handler: "h", state: "leased", attempts: 1 }]);
      expect(await store.counts(T)).toMatchObject({ done: 2, leased: 1, pending: 0 });
    },
  },
  ...Object.entries(HOLES).map(([what, { event = {}, end, states, statesAfterDeath = states }]) => ({
    name: `a mark leaves out an event between that ${what}`,
    async run(scene: Scene) {
      const store = await scene.open();
      const leases = await accept(store, { evt_1: {}, evt_2: event, evt_3: {} });
      const between = leases.find(({ seq }) => seq === 2);
      await Promise.all([
        settleDone(store, [expectLease(leases[0]), expectLease(leases.at(-1))]),
        ...(between === undefined || end === undefined ? [] : [end(store, between)]),
      ]);
      expect(scene.covered("h")).toEqual([1, 3]);
      expect(await statesOf(store, "evt_2")).toEqual(states);
      const next = await scene.reopen(store);
      expect(await statesOf(next, "evt_2")).toEqual(statesAfterDeath);
      for (const id of ["evt_1", "evt_3"]) expect(await statesOf(next, id)).toEqual({ h: "done" });
      expect(scene.covered("h")).toEqual([1, 3]);
    },
  })),
  {
    name: "ctx.commit leaves a mark of its own inside the mark of its neighbours",
    async run(scene) {
      const store = await scene.open();
      const leases = await acceptMany(store, 3);
      await store.commit(settlements.done(expectLease(leases[1])), () => undefined);
      await settleDone(store, [expectLease(leases[0]), expectLease(leases[2])]);
      expect(scene.marks()).toEqual([
        ["h", 1, 3, "101"],
        ["h", 2, 2, null],
      ]);
      const next = await scene.reopen(store);
      for (const id of ["evt_1", "evt_2", "evt_3"]) expect(await statesOf(next, id)).toEqual({ h: "done" });
    },
  },
  {
    name: "each handler of an event has marks of its own",
    async run(scene) {
      const store = await scene.open();
      const leases = await accept(store, {
        evt_1: leasedFor("h", "i"),
        evt_2: leasedFor("i"),
        evt_3: leasedFor("h", "i", "j"),
        evt_4: leasedFor("h"),
      });
      const [h1, i1, i2, h3, i3, j3, h4] = leases;
      await settleDone(store, [h1, i1, i2, i3, h4].map(expectLease));
      expect(scene.marks()).toEqual([
        ["h", 1, 4, "1001"],
        ["i", 1, 3, null],
      ]);
      const next = await scene.reopen(store);
      expect(await statesOf(next, "evt_1")).toEqual({ h: "done", i: "done" });
      expect(await statesOf(next, "evt_3")).toEqual({ h: "pending", i: "done", j: "pending" });
      expect([h3, j3].map((lease) => expectLease(lease).seq)).toEqual([3, 3]);
    },
  },
  {
    name: "events that are settled out of order, as with a key, are marked like any others",
    async run(scene) {
      const store = await scene.open();
      const leases = await acceptMany(store, 7);
      await settleDone(
        store,
        [6, 2, 0].map((place) => expectLease(leases[place])),
      );
      await settleDone(
        store,
        [5, 3, 1].map((place) => expectLease(leases[place])),
      );
      expect(scene.marks()).toEqual([
        ["h", 1, 7, "1010001"],
        ["h", 2, 6, "10101"],
      ]);
      const next = await scene.reopen(store);
      expect((await leasePage(next)).work.map(({ eventId }) => eventId)).toEqual(["evt_5"]);
    },
  },
  {
    name: "what is settled in several batches has several marks, of 256 numbers at the most",
    async run(scene) {
      const store = await scene.open();
      await settleDone(store, await acceptMany(store, 600));
      expect(scene.marks()).toEqual([
        ["h", 1, 256, null],
        ["h", 257, 512, null],
        ["h", 513, 600, null],
      ]);
      const next = await scene.reopen(store);
      expect(await next.counts(T)).toMatchObject({ pending: 0, leased: 0, done: 600 });
    },
  },
  ...[255, 256].map((distance) => ({
    name: `two events ${distance} numbers apart share ${distance === 255 ? "one mark" : "none"}, and both are found`,
    async run(scene: Scene) {
      const store = await scene.open();
      const leases = await acceptMany(store, distance + 1);
      await settleDone(store, [expectLease(leases[0]), expectLease(leases.at(-1))]);
      expect(scene.marks().map(([, first, last]) => [first, last])).toEqual(
        distance === 255 ? [[1, 256]] : [1, 257].map((number) => [number, number]),
      );
      const next = await scene.reopen(store);
      for (const number of [1, distance + 1]) expect(await statesOf(next, `evt_${number}`)).toEqual({ h: "done" });
      for (const number of [2, distance]) expect(await statesOf(next, `evt_${number}`)).toEqual({ h: "pending" });
    },
  })),
  {
    name: "a commit that fails leaves no mark, and the settlement can be repeated",
    async run(scene) {
      const store = await scene.open();
      const leases = await acceptMany(store, 3);
      scene.change("CREATE TRIGGER full BEFORE INSERT ON inbox_mark BEGIN SELECT RAISE(ABORT, 'not now'); END");
      const refused = leases.map((lease) => store.settle(settlements.done(lease)));
      for (const result of await Promise.allSettled(refused)) expect(result.status).toBe("rejected");
      expect(await store.counts(T)).toMatchObject({ leased: 3, done: 0 });
      scene.change("DROP TRIGGER full");
      await settleDone(store, leases);
      expect(scene.marks()).toEqual([["h", 1, 3, null]]);
    },
  },
  {
    name: "what was answered is in the file",
    async run(scene) {
      const store = await scene.open();
      const leases = await acceptMany(store, 2);
      expect(scene.look("SELECT id FROM inbox_event")).toEqual([{ id: "evt_1" }, { id: "evt_2" }]);
      await settleDone(store, leases);
      expect(scene.covered("h")).toEqual([1, 2]);
    },
  },
];

const NUMBERS: Scenario[] = [
  {
    name: "the number of the newest event is not used again after retention has dropped it",
    async run(scene) {
      const store = await scene.open();
      await settleDone(store, await acceptMany(store, 3));
      await store.prune({ ...NOTHING_TO_PRUNE, idsBefore: T + DAY });
      expect(scene.look("SELECT seq FROM inbox_event")).toEqual([]);
      expect(scene.marks()).toEqual([]);
      const next = await scene.reopen(store);
      expect((await acceptMany(next, 1)).map(({ seq }) => seq)).toEqual([4]);
    },
  },
];

/** How a pair in flight gets a row, and what that row says. */
const ROWS: Record<string, { end: (store: Store, lease: Lease) => Promise<unknown>; row: object }> = {
  fails: {
    end: (store, lease) => store.settle(settlements.pending(lease)),
    row: { state: "pending", started: 1, finished: 1 },
  },
  "is dead": {
    end: (store, lease) => store.settle(settlements.dead(lease)),
    row: { state: "dead", started: 1, finished: 1 },
  },
  "is parked": {
    end: (store, lease) => store.settle(settlements.parked(lease)),
    row: { state: "parked", started: 1, finished: 1 },
  },
  "is given back": {
    end: (store, lease) => store.release([lease], T),
    row: { state: "pending", started: 0, finished: 0 },
  },
  "is renewed": {
    end: (store, lease) => store.renew([lease], T + DAY),
    row: { state: "leased", started: 1, finished: 0 },
  },
  "ran out": {
    end: (store) => store.recover(T + MINUTE + 1),
    row: { state: "pending", started: 1, finished: 0 },
  },
};

const WAITING: Scenario[] = [
  ...Object.entries(ROWS).map(([what, { end, row }]) => ({
    name: `work in flight that ${what} gets a row, and the low-water mark moves on`,
    async run(scene: Scene) {
      const store = await scene.open();
      const leases = await acceptMany(store, 3);
      await settleDone(store, leases.slice(1));
      await tick(store);
      expect(scene.counter("settled_through")).toBe(0);
      expect(scene.rows()).toEqual([]);
      await end(store, expectLease(leases[0]));
      expect(scene.rows()).toEqual([{ seq: 1, handler: "h", ...row }]);
      await tick(store);
      expect(scene.counter("settled_through")).toBe(3);
    },
  })),
  {
    name: "the low-water mark stays below the oldest event that has a handler in flight",
    async run(scene) {
      const store = await scene.open();
      const [h1, h2, i2, h3] = await accept(store, {
        evt_1: {},
        evt_2: leasedFor("h", "i"),
        evt_3: {},
        evt_4: { work: [] },
      });
      const through: unknown[] = [];
      for (const lease of [h3, h1, i2, h2]) {
        await settleDone(store, [expectLease(lease)]);
        await tick(store);
        through.push(scene.counter("settled_through"));
      }
      expect(through).toEqual([0, 1, 1, 4]);
    },
  },
  {
    name: "the low-water mark passes no event of a batch that has just been stored",
    async run(scene) {
      const store = await scene.open();
      await settleDone(store, await acceptMany(store, 2));
      await acceptMany(store, 2, 3);
      await accept(store, { evt_5: { work: [] } });
      await tick(store);
      expect(scene.counter("settled_through")).toBe(2);
      const next = await scene.reopen(store);
      expect((await leasePage(next)).work.map(({ eventId }) => eventId)).toEqual(["evt_3", "evt_4"]);
    },
  },
  {
    name: "ctx.commit lets the low-water mark move on",
    async run(scene) {
      const store = await scene.open();
      for (const lease of await acceptMany(store, 2)) await store.commit(settlements.done(lease), () => undefined);
      await tick(store);
      expect(scene.counter("settled_through")).toBe(2);
      expect(await store.recover(T + DAY)).toMatchObject({ recovered: 0 });
      expect(scene.rows()).toEqual([]);
    },
  },
  {
    name: "a renewed lease goes on under its token",
    async run(scene) {
      const store = await scene.open();
      const leases = await acceptMany(store, 2);
      expect(await store.renew(leases, T + DAY)).toEqual([]);
      expect(await store.renew(leases, T + 2 * DAY)).toEqual([]);
      expect(await store.recover(T + DAY)).toMatchObject({ recovered: 0 });
      await settleDone(store, leases);
      expect(scene.marks()).toEqual([]);
      expect(scene.look("SELECT seq, handler, attempts FROM inbox_done")).toEqual([
        { seq: 1, handler: "h", attempts: 1 },
        { seq: 2, handler: "h", attempts: 1 },
      ]);
    },
  },
  {
    name: "a step is kept for the next process, with the death counted once",
    async run(scene) {
      const store = await scene.open();
      const [lease] = await acceptMany(store, 1);
      expect(await store.saveStep(expectLease(lease), "first", "1", T)).toBe("settled");
      const next = await scene.reopen(store);
      const { work } = await leasePage(next);
      expect(work).toMatchObject([{ attempt: 2, failures: 0, crashes: 1 }]);
      expect(await next.loadSteps({ seq: 1, handler: "h" })).toEqual({ first: "1" });
      expect(await next.settle({ ...settlements.done(expectLease(work[0])), dropSteps: true })).toBe("settled");
      expect(scene.look("SELECT name, value FROM inbox_step")).toEqual([{ name: "first", value: "" }]);
    },
  },
];

/** What a process may still try under an epoch that it has lost. */
const LATE: Record<string, (store: Store, lease: Lease) => Promise<void>> = {
  "a settlement as done": async (store, lease) => expect(await store.settle(settlements.done(lease))).toBe("lost"),
  "a settlement as failed": async (store, lease) => expect(await store.settle(settlements.pending(lease))).toBe("lost"),
  "a settlement as dead": async (store, lease) => expect(await store.settle(settlements.dead(lease))).toBe("lost"),
  "a step": async (store, lease) => expect(await store.saveStep(lease, "first", "1", T)).toBe("lost"),
  "a renewal": async (store, lease) => expect(await store.renew([lease], T + DAY)).toMatchObject([{ seq: lease.seq }]),
  "a release": (store, lease) => store.release([lease], T),
  "ctx.commit": (store, lease) =>
    expect(store.commit(settlements.done(lease), () => expect.unreachable())).rejects.toMatchObject({
      code: "lease_lost",
    }),
};

const EPOCHS: Scenario[] = [
  {
    name: "each take-over begins an epoch",
    async run(scene) {
      const store = await scene.open();
      expect(scene.counter("epoch")).toBe(1);
      await store.recover(T);
      expect(scene.counter("epoch")).toBe(1);
      await scene.reopen(store);
      expect(scene.counter("epoch")).toBe(2);
    },
  },
  ...Object.entries(LATE).map(([what, attempt]) => ({
    name: `${what} writes nothing once another process has taken the file over`,
    async run(scene: Scene) {
      const store = await scene.open();
      const [lease] = await acceptMany(store, 1);
      scene.takeOver();
      const before = scene.dump();
      await attempt(store, expectLease(lease));
      expect(scene.dump()).toEqual(before);
      expect(scene.rows()).toEqual([{ seq: 1, handler: "h", state: "pending", started: 1, finished: 0 }]);
    },
  })),
  ...Object.entries(LATE).map(([what, attempt]) => ({
    name: `${what} takes nothing from the process that has the work now`,
    async run(scene: Scene) {
      const store = await scene.open();
      const [lease] = await acceptMany(store, 1);
      scene.takeOver();
      const { work } = await leasePage(store);
      const before = scene.dump();
      await attempt(store, expectLease(lease));
      expect(scene.dump()).toEqual(before);
      expect(await store.settle(settlements.done(expectLease(work[0])))).toBe("settled");
    },
  })),
  {
    name: "a whole batch of settlements under an epoch that is lost leaves no mark",
    async run(scene) {
      const store = await scene.open();
      const leases = await acceptMany(store, 4);
      await settleDone(store, leases.slice(0, 1));
      scene.takeOver();
      const results = await Promise.all(leases.slice(1).map((lease) => store.settle(settlements.done(lease))));
      expect(results).toEqual(["lost", "lost", "lost"]);
      expect(scene.covered("h")).toEqual([1]);
    },
  },
  {
    name: "a process that has lost its epoch stores work as rows, and leaves the low-water mark alone",
    async run(scene) {
      const store = await scene.open();
      await settleDone(store, await acceptMany(store, 2));
      scene.takeOver();
      const through = scene.counter("settled_through");
      const leases = await acceptMany(store, 2, 3);
      await tick(store);
      expect(scene.look("SELECT direct FROM inbox_event WHERE seq > 2")).toEqual([{ direct: null }, { direct: null }]);
      expect(scene.rows()).toMatchObject([
        { seq: 3, state: "leased" },
        { seq: 4, state: "leased" },
      ]);
      expect(scene.counter("settled_through")).toBe(through);
      await settleDone(store, leases);
    },
  },
  {
    name: "a second process that only accepts stores work as rows beside what is in flight",
    async run(scene) {
      const store = await scene.open();
      const beside = await scene.openBeside();
      const [first] = await acceptMany(store, 1);
      await accept(beside, { evt_2: {}, evt_3: { work: [{ handler: "h" }] }, evt_4: { work: [] } });
      const [, last] = await acceptMany(store, 2, 5);
      expect(scene.rows()).toMatchObject([
        { seq: 2, state: "leased" },
        { seq: 3, state: "pending" },
      ]);
      await settleDone(store, [expectLease(first), expectLease(last)]);
      await tick(store);
      expect(scene.marks()).toEqual([["h", 1, 6, "100001"]]);
      expect(scene.counter("settled_through")).toBe(4);
      await store.close();
      expect(await beside.recover(T)).toEqual({ owner: true, recovered: 2, parked: 0 });
      expect((await leasePage(beside)).work.map(({ eventId }) => eventId)).toEqual(["evt_2", "evt_5"]);
    },
  },
];

/** Each write of a take-over, by a trigger that lets it fail. */
const WRITES: Record<string, string> = {
  "the rows": "INSERT ON inbox_work",
  "the low-water mark": "UPDATE ON counter WHEN NEW.name = 'settled_through'",
  "the epoch": "UPDATE ON counter WHEN NEW.name = 'epoch'",
  "the ends of leases": "UPDATE ON inbox_work",
};

const RECOVERY: Scenario[] = [
  ...Object.entries(WRITES).map(([what, where]) => ({
    name: `a take-over that cannot write ${what} writes nothing, and the next one counts one death`,
    async run(scene: Scene) {
      const store = await scene.open();
      await settleDone(store, (await acceptMany(store, 3)).slice(0, 1));
      await store.close();
      const before = scene.dump();
      const [event, condition = ""] = where.split(/(?= WHEN)/);
      scene.change(`CREATE TRIGGER fail BEFORE ${event}${condition} BEGIN SELECT RAISE(ABORT, 'not now'); END`);
      const failing = await scene.openBeside();
      await expect(failing.recover(T)).rejects.toThrow(/not now/);
      await failing.close();
      expect(scene.dump()).toEqual(before);
      scene.change("DROP TRIGGER fail");
      const next = await scene.openBeside();
      expect(await next.recover(T)).toEqual({ owner: true, recovered: 2, parked: 0 });
      expect((await leasePage(next)).work).toMatchObject([
        { eventId: "evt_2", attempt: 2, crashes: 1 },
        { eventId: "evt_3", attempt: 2, crashes: 1 },
      ]);
    },
  })),
  {
    name: "a process that looks for what others left leaves its own work in flight alone",
    async run(scene) {
      const store = await scene.open();
      const leases = await acceptMany(store, 2);
      for (const now of [T, T + 1, T + MINUTE]) {
        expect(await store.recover(now)).toEqual({ owner: true, recovered: 0, parked: 0 });
      }
      expect(scene.rows()).toEqual([]);
      await settleDone(store, leases);
      expect(scene.marks()).toEqual([["h", 1, 2, null]]);
    },
  },
  {
    name: "work that is in flight in four deaths is parked at the fourth",
    async run(scene) {
      let store = await scene.open();
      await acceptMany(store, 1);
      const seen: unknown[] = [];
      for (let death = 1; death <= 4; death += 1) {
        store = await scene.reopen(store);
        seen.push(scene.rows()[0]);
        await leasePage(store);
      }
      const row = { seq: 1, handler: "h", finished: 0 };
      expect(seen).toEqual([
        { ...row, state: "pending", started: 1 },
        { ...row, state: "pending", started: 2 },
        { ...row, state: "pending", started: 3 },
        { ...row, state: "parked", started: 4 },
      ]);
    },
  },
  {
    name: "a death makes nothing of what is done, waits or is stuck",
    async run(scene) {
      const store = await scene.open();
      const [done, dead, failed] = await acceptMany(store, 3);
      await accept(store, { evt_4: { work: [{ handler: "h" }] } });
      await settleDone(store, [expectLease(done)]);
      await store.settle(settlements.dead(expectLease(dead)));
      await store.settle(settlements.pending(expectLease(failed)));
      const before = [scene.rows(), scene.marks()];
      await store.close();
      const next = await scene.openBeside();
      expect(await next.recover(T)).toEqual({ owner: true, recovered: 0, parked: 0 });
      expect([scene.rows(), scene.marks()]).toEqual(before);
    },
  },
];

const PLANS: Scenario[] = [
  {
    name: "a handler that is new gets no event from before, not even one that was in flight at the death",
    async run(scene) {
      const store = await scene.open();
      const leases = await accept(store, { evt_1: {}, evt_2: {}, evt_3: leasedFor("h", "late") });
      await settleDone(store, leases.slice(0, 1));
      const next = await scene.reopen(store);
      expect(scene.rows().map(({ seq, handler }) => [seq, handler])).toEqual([
        [2, "h"],
        [3, "h"],
        [3, "late"],
      ]);
      expect((await leasePage(next, { handler: "late" })).work.map(({ eventId }) => eventId)).toEqual(["evt_3"]);
      expect((await leasePage(next, { handler: "later" })).work).toEqual([]);
    },
  },
  {
    name: "replanning gives no second run to work that is in flight, marked or done",
    async run(scene) {
      const store = await scene.open();
      const [marked, inFlight, committed, failed] = await acceptMany(store, 4);
      await settleDone(store, [expectLease(marked)]);
      await store.commit(settlements.done(expectLease(committed)), () => undefined);
      await store.renew([expectLease(failed)], T + DAY);
      await settleDone(store, [expectLease(failed)]);
      for (const seq of [1, 2, 3, 4]) expect(await store.replan({ seq, handlers: ["h"], now: T })).toBe(0);
      expect(scene.rows()).toEqual([]);
      await settleDone(store, [expectLease(inFlight)]);
      const next = await scene.reopen(store);
      for (const seq of [1, 2, 3, 4]) expect(await next.replan({ seq, handlers: ["h"], now: T })).toBe(0);
      expect((await leasePage(next)).work).toEqual([]);
    },
  },
  {
    name: "replanning adds the handler that is missing, also under a mark of that handler",
    async run(scene) {
      const store = await scene.open();
      const leases = await accept(store, { evt_1: leasedFor("i"), evt_2: {}, evt_3: leasedFor("i") });
      await settleDone(store, leases);
      expect(scene.marks()).toEqual([
        ["h", 2, 2, null],
        ["i", 1, 3, "101"],
      ]);
      expect(await store.replan({ seq: 2, handlers: ["h", "i"], now: T })).toBe(1);
      const { work } = await leasePage(store, { handler: "i" });
      expect(work).toMatchObject([{ eventId: "evt_2", attempt: 1, crashes: 0 }]);
      await settleDone(store, [expectLease(work[0])]);
      expect(await statesOf(store, "evt_2")).toEqual({ h: "done", i: "done" });
      expect(await store.replan({ seq: 2, handlers: ["h", "i"], now: T })).toBe(0);
    },
  },
  {
    name: "discarding leaves work in flight to its run, and its mark stands",
    async run(scene) {
      const store = await scene.open();
      const leases = await accept(store, { evt_1: { work: [...leasedFor("h").work, { handler: "i" }] } });
      expect(await store.discard("evt_1", T)).toBe(1);
      expect(await statesOf(store, "evt_1")).toEqual({ h: "leased", i: "done" });
      await settleDone(store, leases);
      expect(await store.discard("evt_1", T)).toBe(0);
      expect(await store.get("evt_1")).toMatchObject({
        state: "done",
        handlers: [
          { handler: "h", discarded: false },
          { handler: "i", discarded: true },
        ],
      });
    },
  },
  {
    name: "retention drops no event that is in flight, and the marks with the last event under them",
    async run(scene) {
      const store = await scene.open();
      const leases = await acceptMany(store, 3);
      await settleDone(store, [expectLease(leases[0]), expectLease(leases[2])]);
      const all = { ...NOTHING_TO_PRUNE, idsBefore: T + DAY, bodiesBefore: T + DAY };
      for (let batch = 0; batch < 4; batch += 1) await store.prune(all);
      expect(scene.look("SELECT seq FROM inbox_body")).toEqual([{ seq: 2 }]);
      expect(scene.look("SELECT seq FROM inbox_event")).toEqual([{ seq: 2 }]);
      expect(scene.marks()).toEqual([["h", 1, 3, "101"]]);
      await settleDone(store, [expectLease(leases[1])]);
      for (let batch = 0; batch < 4; batch += 1) await store.prune(all);
      expect(scene.look("SELECT seq FROM inbox_event")).toEqual([]);
      expect(scene.marks()).toEqual([]);
    },
  },
  {
    name: "retention drops a mark with the last event under it, also when that is another handler's",
    async run(scene) {
      const store = await scene.open();
      const leases = await accept(store, { evt_1: {}, evt_2: leasedFor("i"), evt_3: {} });
      await settleDone(store, [expectLease(leases[0]), expectLease(leases[2])]);
      const all = { ...NOTHING_TO_PRUNE, idsBefore: T + DAY };
      for (let batch = 0; batch < 2; batch += 1) await store.prune(all);
      expect(scene.marks()).toEqual([["h", 1, 3, "101"]]);
      await settleDone(store, [expectLease(leases[1])]);
      await store.prune(all);
      expect(scene.look("SELECT seq FROM inbox_event")).toEqual([]);
      expect(scene.marks()).toEqual([]);
    },
  },
  {
    name: "the same event again is a duplicate, whether it is in flight, marked or done",
    async run(scene) {
      const store = await scene.open();
      const leases = await acceptMany(store, 2);
      await settleDone(store, leases.slice(0, 1));
      for (const id of ["evt_1", "evt_2"]) {
        expect(await store.accept(newEvent(id, leasedFor("h")))).toMatchObject({ kind: "duplicate" });
      }
      expect(scene.look("SELECT seq FROM inbox_event")).toEqual([{ seq: 1 }, { seq: 2 }]);
    },
  },
];

export const SCENARIOS: readonly Scenario[] = [...MARKS, ...NUMBERS, ...WAITING, ...EPOCHS, ...RECOVERY, ...PLANS];
