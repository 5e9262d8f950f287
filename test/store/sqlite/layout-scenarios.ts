import type { Store } from "#pigeonhole/store/store.js";
import type { Lease } from "#pigeonhole/store/work.js";
import { expect } from "vitest";
import { DAY, MINUTE, NOTHING_TO_PRUNE, T, expectLease, newEvent, settlements } from "../conformance/new-event.js";
import { leasePage, statesOf } from "../conformance/lease-page.js";
import { accept, acceptMany, leasedFor, type Scene } from "./layout-scene.js";
import { countWork, operate } from "../../support/operate.js";

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

const SETTLING: Scenario[] = [
  {
    name: "a commit that fails settles nothing, and the settlement can be repeated",
    async run(scene) {
      const store = await scene.open();
      const leases = await acceptMany(store, 3);
      scene.change("CREATE TRIGGER full BEFORE UPDATE ON inbox_work BEGIN SELECT RAISE(ABORT, 'not now'); END");
      const refused = leases.map((lease) => store.settle(settlements.done(lease)));
      for (const result of await Promise.allSettled(refused)) expect(result.status).toBe("rejected");
      expect(await countWork(store, T)).toMatchObject({ running: 3, done: 0 });
      scene.change("DROP TRIGGER full");
      await settleDone(store, leases);
      expect(scene.done("h")).toEqual([1, 2, 3]);
    },
  },
  {
    name: "what was answered is in the file",
    async run(scene) {
      const store = await scene.open();
      const leases = await acceptMany(store, 2);
      expect(scene.look("SELECT id FROM inbox_event")).toEqual([{ id: "evt_1" }, { id: "evt_2" }]);
      await settleDone(store, leases);
      expect(scene.done("h")).toEqual([1, 2]);
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
      for (const table of ["inbox_event", "inbox_work"]) expect(scene.look(`SELECT seq FROM ${table}`)).toEqual([]);
      const next = await scene.reopen(store);
      expect((await acceptMany(next, 1)).map(({ seq }) => seq)).toEqual([4]);
    },
  },
];

const WAITING: Scenario[] = [
  {
    name: "each piece of work of an event has a token of its own",
    async run(scene) {
      const store = await scene.open();
      const leases = await accept(store, { evt_1: leasedFor("h", "i"), evt_2: leasedFor("h") });
      expect(scene.look("SELECT seq, handler, lease AS token FROM inbox_work")).toEqual(leases);
      expect(new Set(leases.map(({ token }) => token)).size).toBe(3);
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
      expect(scene.done("h")).toEqual([1, 2]);
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

/** What a process may still try once another one has the file. */
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
      expect(scene.epoch()).toBe(1);
      await store.recover(T);
      expect(scene.epoch()).toBe(1);
      await scene.reopen(store);
      expect(scene.epoch()).toBe(2);
    },
  },
  ...Object.entries(LATE).map(([what, attempt]) => ({
    name: `${what} takes nothing from a process that has taken the file over`,
    async run(scene: Scene) {
      const store = await scene.open();
      const [lease] = await acceptMany(store, 1);
      scene.takeOver();
      const before = scene.dump();
      await attempt(store, expectLease(lease));
      expect(scene.dump()).toEqual(before);
      expect(scene.rows()).toEqual([{ seq: 1, handler: "h", state: "pending", started: 1, finished: 0 }]);
      const { work } = await leasePage(store);
      const leased = scene.dump();
      await attempt(store, expectLease(lease));
      expect(scene.dump()).toEqual(leased);
      expect(await store.settle(settlements.done(expectLease(work[0])))).toBe("settled");
    },
  })),
  {
    name: "leases that a second process accepts with end when it dies or lets them run out",
    async run(scene) {
      const store = await scene.open();
      const beside = await scene.openBeside();
      const [first] = await acceptMany(store, 1);
      await accept(beside, { evt_2: {}, evt_3: { work: [{ handler: "h" }] }, evt_4: { work: [] } });
      await acceptMany(store, 1, 5);
      await settleDone(store, [expectLease(first)]);
      await store.close();
      expect(await beside.recover(T)).toEqual({ owner: true, recovered: 2, parked: 0 });
      expect(scene.rows()).toMatchObject([2, 3, 5].map((seq) => ({ seq, state: "pending" })));
    },
  },
  {
    name: "an older copy of the file that is put in place runs what it holds",
    async run(scene) {
      const store = await scene.open();
      const leases = await acceptMany(store, 3);
      await settleDone(store, leases.slice(0, 1));
      const copy = await scene.save();
      await settleDone(store, leases.slice(1));
      const [stale] = await acceptMany(store, 2, 4);
      await copy.restore();
      const others = await accept(store, { evt_6: {} });
      expect(others).toMatchObject([{ seq: 4 }]);
      expect(await store.settle(settlements.done(expectLease(stale)))).toBe("lost");
      await store.recover(T + MINUTE + 1);
      expect(scene.rows()).toMatchObject([2, 3, 4].map((seq) => ({ seq, state: "pending" })));
      expect(await store.settle(settlements.done(expectLease(others[0])))).toBe("lost");
    },
  },
];

/** Each write of a take-over, by a trigger that lets it fail. */
const WRITES: Record<string, string> = {
  "the epoch": "UPDATE ON inbox_counter WHEN NEW.name = 'epoch'",
  "the ends of leases": "UPDATE ON inbox_work",
};

const RECOVERY: Scenario[] = Object.entries(WRITES).map(([what, where]) => ({
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
}));

const PLANS: Scenario[] = [
  {
    name: "replanning gives no second run to work that is leased or done, and adds the handler that is missing",
    async run(scene) {
      const store = await scene.open();
      const [done, , committed] = await acceptMany(store, 3);
      await settleDone(store, [expectLease(done)]);
      await store.commit(settlements.done(expectLease(committed)), () => undefined);
      for (const seq of [1, 2, 3]) expect(await store.replan({ seq, handlers: ["h"], now: T })).toBe(0);
      expect(await store.replan({ seq: 1, handlers: ["h", "i"], now: T })).toBe(1);
      const { work } = await leasePage(store, { handler: "i" });
      expect(work).toMatchObject([{ eventId: "evt_1", attempt: 1, crashes: 0 }]);
      await settleDone(store, [expectLease(work[0])]);
      expect(await statesOf(store, "evt_1")).toEqual({ h: "done", i: "done" });
    },
  },
  {
    name: "discarding leaves leased work to its run",
    async run(scene) {
      const store = await scene.open();
      const leases = await accept(store, { evt_1: { work: [...leasedFor("h").work, { handler: "i" }] } });
      expect(await operate(store).changeEvent("discard", "evt_1")).toEqual({ work: 1, readAgain: 0 });
      expect(await statesOf(store, "evt_1")).toEqual({ h: "running", i: "discarded" });
      await settleDone(store, leases);
      expect(await operate(store).changeEvent("discard", "evt_1")).toEqual({ work: 0, readAgain: 0 });
      expect(await store.getEvent("evt_1")).toMatchObject({
        state: "done",
        handlers: [
          { handler: "h", state: "done" },
          { handler: "i", state: "discarded" },
        ],
      });
    },
  },
  {
    name: "retention drops no event that has open work, and all that it has with the event",
    async run(scene) {
      const store = await scene.open();
      const leases = await acceptMany(store, 3);
      await settleDone(store, [expectLease(leases[0]), expectLease(leases[2])]);
      const all = { ...NOTHING_TO_PRUNE, idsBefore: T + DAY, bodiesBefore: T + DAY };
      for (let batch = 0; batch < 4; batch += 1) await store.prune(all);
      for (const table of ["inbox_body", "inbox_event", "inbox_work"]) {
        expect(scene.look(`SELECT seq FROM ${table}`)).toEqual([{ seq: 2 }]);
      }
      await settleDone(store, [expectLease(leases[1])]);
      for (let batch = 0; batch < 4; batch += 1) await store.prune(all);
      for (const table of ["inbox_event", "inbox_work"]) expect(scene.look(`SELECT seq FROM ${table}`)).toEqual([]);
    },
  },
  {
    name: "the same event again is a duplicate, whether its work is leased or done",
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

export const SCENARIOS: readonly Scenario[] = [...SETTLING, ...NUMBERS, ...WAITING, ...EPOCHS, ...RECOVERY, ...PLANS];
