import { expect } from "vitest";
import { DAY, MINUTE, NOTHING_TO_PRUNE, T, newEvent, settlements } from "../conformance/new-event.js";
import { acceptAll, acceptLeased, idsOf, leasePage, statesOf } from "../conformance/lease-page.js";
import { TAKEN_OVER_AFTER_MS } from "#pigeonhole/store/work-state.js";
import type { PostgresScenario } from "./scenarios.js";

const forHandlers = (...handlers: string[]) => ({
  work: handlers.map((handler) => ({ handler, leaseUntil: T + MINUTE })),
});

const DROPS_IDS = { ...NOTHING_TO_PRUNE, idsBefore: T + DAY };

/** What the scenarios of the SQLite file show, where PostgreSQL keeps it in another form. */
export const TWIN_SCENARIOS: readonly PostgresScenario[] = [
  {
    name: "an event and a settlement are answered once they are written",
    async run(scene) {
      const store = await scene.open();
      const lease = await acceptLeased(store, "settled");
      const client = await scene.begin();
      const { schema } = scene.database;
      await client.query(`LOCK TABLE ${schema}.inbox_event, ${schema}.inbox_work IN EXCLUSIVE MODE`);
      const answered: string[] = [];
      const answers = [store.accept(newEvent("new")), store.settle(settlements.done(lease))].map(async (answer) => {
        const result = await answer;
        answered.push(typeof result === "string" ? result : result.kind);
      });
      await scene.untilWaiting(2);
      expect(answered).toEqual([]);
      await client.query("COMMIT");
      await Promise.all(answers);
      expect(answered.toSorted()).toEqual(["settled", "stored"]);
    },
  },
  {
    name: "an id is stored once, in whichever store it arrives",
    async run(scene) {
      const [first, second] = [await scene.open(), await scene.open()];
      expect(await first.accept(newEvent("evt_1"))).toMatchObject({ kind: "stored" });
      expect(await first.accept(newEvent("evt_1"))).toMatchObject({ kind: "duplicate" });
      expect(await second.accept(newEvent("evt_1"))).toMatchObject({ kind: "duplicate" });
    },
  },
  {
    name: "each settlement of a batch leaves a mark, of every handler",
    async run(scene) {
      const store = await scene.open();
      const stored = [
        await store.accept(newEvent("a", forHandlers("h", "i"))),
        await store.accept(newEvent("b", forHandlers("h", "i"))),
      ];
      const leases = stored.flatMap((result) => (result.kind === "stored" ? result.leases : []));
      const results = await Promise.all(leases.map((lease) => store.settle(settlements.done(lease))));
      expect(results).toEqual(["settled", "settled", "settled", "settled"]);
      for (const id of ["a", "b"]) expect(await statesOf(store, id)).toEqual({ h: "done", i: "done" });
    },
  },
  {
    name: "a commit ends its work, and leaves nothing to recover",
    async run(scene) {
      const store = await scene.open();
      await store.commit(settlements.done(await acceptLeased(store, "evt_1")), () => undefined);
      expect(await store.recover(T + DAY)).toMatchObject({ recovered: 0 });
      expect(idsOf(await leasePage(store, { now: T + DAY }))).toEqual([]);
      expect(await statesOf(store, "evt_1")).toEqual({ h: "done" });
    },
  },
  {
    name: "a retry by hand adds the handler that is missing, and gives no second run to one that is done",
    async run(scene) {
      const store = await scene.open();
      const lease = await acceptLeased(store, "evt_1");
      await store.settle(settlements.done(lease));
      expect(await store.replan({ seq: lease.seq, handlers: ["h", "late"], now: T })).toBe(1);
      expect(await statesOf(store, "evt_1")).toEqual({ h: "done", late: "pending" });
    },
  },
  {
    name: "the number of an event that retention has dropped is not used again",
    async run(scene) {
      const store = await scene.open();
      const dropped = await acceptLeased(store, "dropped");
      await store.settle(settlements.done(dropped));
      while ((await store.prune(DROPS_IDS)) > 0);
      expect(await store.getEvent("dropped")).toBeUndefined();
      expect((await acceptLeased(store, "new")).seq).toBeGreaterThan(dropped.seq);
    },
  },
  {
    name: "work whose number is below that of work which is done is leased",
    async run(scene) {
      const store = await scene.open();
      await acceptAll(store, ["first", "second"]);
      const client = await scene.lockWork("first");
      const { work } = await leasePage(store, { limit: 1 });
      expect(work).toMatchObject([{ eventId: "second" }]);
      for (const lease of work) await store.settle(settlements.done(lease));
      await client.query("ROLLBACK");
      expect(idsOf(await leasePage(store))).toEqual(["first"]);
    },
  },
  {
    name: "work of a dead process is leased again with its steps, and with the death counted",
    async run(scene) {
      const store = await scene.open();
      const lease = await acceptLeased(store, "evt_1", { work: [{ handler: "h", leaseUntil: T + DAY }] });
      await store.saveStep(lease, "first", "1", T);
      await scene.giveToDeadProcess();
      await store.recover(T);
      await scene.pass(TAKEN_OVER_AFTER_MS / 1_000 + 1);
      expect(await store.recover(T)).toMatchObject({ recovered: 1 });
      expect((await leasePage(store)).work).toMatchObject([{ eventId: "evt_1", attempt: 2, crashes: 1 }]);
      expect(await store.loadSteps(lease)).toEqual({ first: "1" });
    },
  },
  {
    name: "work of a dead process that is locked at the moment is recovered later",
    async run(scene) {
      const store = await scene.open();
      await acceptLeased(store, "evt_1", { work: [{ handler: "h", leaseUntil: T + DAY }] });
      await scene.giveToDeadProcess();
      await store.recover(T);
      await scene.pass(TAKEN_OVER_AFTER_MS / 1_000 + 1);
      const client = await scene.begin();
      await client.query(`SELECT 1 FROM ${scene.database.schema}.inbox_work FOR UPDATE`);
      expect(await store.recover(T)).toMatchObject({ recovered: 0 });
      await client.query("ROLLBACK");
      expect(await store.recover(T)).toMatchObject({ recovered: 1 });
    },
  },
  {
    name: "retention drops no event that has work, and with an event all of its marks",
    async run(scene) {
      const store = await scene.open();
      for (const [id, done] of [
        ["kept", ["h"]],
        ["dropped", ["h", "i"]],
      ] as const) {
        const stored = await store.accept(newEvent(id, forHandlers("h", "i")));
        const leases = stored.kind === "stored" ? stored.leases : [];
        const ended = leases.filter(({ handler }) => done.some((name) => name === handler));
        for (const lease of ended) await store.settle(settlements.done(lease));
      }
      while ((await store.prune(DROPS_IDS)) > 0);
      expect(await statesOf(store, "kept")).toEqual({ h: "done", i: "running" });
      expect(await store.getEvent("dropped")).toBeUndefined();
      const { rows } = await scene.database.pool.query(
        `SELECT handler FROM ${scene.database.schema}.inbox_work ORDER BY seq, handler`,
      );
      expect(rows).toEqual([{ handler: "h" }, { handler: "i" }]);
    },
  },
];
