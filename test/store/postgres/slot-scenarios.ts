import { expect } from "vitest";
import type { PruneLimits, Store, StoreAlarm } from "#pigeonhole/store/store.js";
import { HOUR, MINUTE } from "#pigeonhole/base/duration.js";
import { DAY, NOTHING_TO_PRUNE, T, newEvent, settlements } from "../conformance/new-event.js";
import { acceptAll, acceptLeased } from "../conformance/lease-page.js";
import type { PostgresScenario, PostgresScene } from "./scenarios.js";
import { operate } from "../../support/operate.js";

type AnyStore = Store<unknown>;

/** Nobody waits for these. */
const settled = { work: [] };

/** What was received at T has ended. */
const ENDED: PruneLimits = { ...NOTHING_TO_PRUNE, bodiesBefore: T + 1 };

/** For so long, what was moved has to be elsewhere. */
const CLEAR_FOR_MS = 10 * MINUTE;

async function pruneRound(store: AnyStore, now: number, limits: PruneLimits = ENDED): Promise<void> {
  while ((await store.prune({ ...limits, now })) > 0) continue;
}

async function pruneRounds(store: AnyStore, limits: PruneLimits = ENDED): Promise<void> {
  for (const now of [limits.now, limits.now + CLEAR_FOR_MS]) await pruneRound(store, now, limits);
}

/** Lets the bodies of the next events go into another slot. */
async function openSlot(scene: PostgresScene, slot: number, openedAt = T - HOUR): Promise<void> {
  const { pool, schema } = scene.database;
  await pool.query(`INSERT INTO ${schema}.inbox_body_slot (slot, opened_at) VALUES ($1, $2)`, [slot, openedAt]);
}

async function openSlots({ database: { pool, schema } }: PostgresScene): Promise<number[]> {
  const { rows } = await pool.query<{ slot: number }>(`SELECT slot FROM ${schema}.inbox_body_slot ORDER BY opened`);
  return rows.map(({ slot }) => slot);
}

/** A store that knows that slot 1 is the current one: it has stored the event "first", whose body is in no slot. */
async function openInSlot(scene: PostgresScene): Promise<AnyStore> {
  const store = await scene.open();
  await openSlot(scene, 1);
  await acceptAll(store, ["first"], settled);
  return store;
}

/** The ids of the events in a table of bodies. */
async function idsIn({ database: { pool, schema } }: PostgresScene, table: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM ${schema}.inbox_event JOIN ONLY ${schema}.${table} USING (seq) ORDER BY seq`,
  );
  return rows.map(({ id }) => id);
}

/** A client that reads bodies in an open transaction. */
async function readBodies(scene: PostgresScene) {
  const reader = await scene.begin();
  await reader.query(`SELECT 1 FROM ${scene.database.schema}.inbox_body`);
  return reader;
}

/** Mistakes about the slots of bodies lose a body that is wanted, or keep others waiting. */
export const SLOT_SCENARIOS: readonly PostgresScenario[] = [
  {
    name: "a slot is emptied without the bodies that are wanted, and the others stay",
    async run(scene) {
      const store = await openInSlot(scene);
      await acceptAll(store, ["pending"]);
      await store.settle(settlements.dead(await acceptLeased(store, "dead")));
      await acceptAll(store, ["ended"], settled);
      await openSlot(scene, 2);
      await store.accept(newEvent("in no slot", { ...settled, receivedAt: T + DAY }));
      await store.accept(newEvent("in the next", { ...settled, receivedAt: T + DAY }));
      await pruneRounds(store);
      expect(await openSlots(scene)).toEqual([2]);
      expect(await idsIn(scene, "inbox_body_1")).toEqual([]);
      expect(await idsIn(scene, "inbox_body")).toEqual(["pending", "dead", "in no slot"]);
      expect(await idsIn(scene, "inbox_body_2")).toEqual(["in the next"]);
    },
  },
  {
    name: "a slot is emptied when all its bodies have ended, and never while new bodies go there",
    async run(scene) {
      const store = await openInSlot(scene);
      await store.accept(newEvent("newest", settled));
      await pruneRounds(store);
      expect(await openSlots(scene)).toEqual([1]);
      await store.accept(newEvent("newest of all", settled));
      await openSlot(scene, 2, T - MINUTE);
      await pruneRounds(store, { ...ENDED, bodiesBefore: T });
      expect(await openSlots(scene)).toEqual([1, 2]);
      await pruneRounds(store);
      expect(await openSlots(scene)).toEqual([2]);
    },
  },
  {
    name: "a body that is erased while it is moved is gone",
    async run(scene) {
      const store = await openInSlot(scene);
      const body = Buffer.from('{"email":"ann@example.com"}');
      await store.accept(newEvent("moved", { body, receivedAt: T + DAY }));
      await acceptAll(store, ["ended"], settled);
      await openSlot(scene, 2);
      // The move waits here.
      const { schema } = scene.database;
      const client = await scene.begin();
      await client.query(
        `INSERT INTO ${schema}.inbox_body (seq, body) SELECT seq, '' FROM ${schema}.inbox_event WHERE id = 'moved'`,
      );
      const pruning = pruneRounds(store);
      await scene.untilWaiting(1);
      const erasing = operate(store).erase({ email: "ann@example.com" });
      await scene.untilWaiting(2);
      await client.query("ROLLBACK");
      await Promise.all([pruning, erasing]);
      expect((await store.getEvent("moved"))?.body).toBeNull();
    },
  },
  {
    name: "a slot that another process has emptied and opened again stays open",
    async run(scene) {
      const other = await openInSlot(scene);
      await acceptAll(other, ["ended"], settled);
      await openSlot(scene, 2);
      const store = await scene.open(
        scene.poolWith(/ACCESS EXCLUSIVE/, async () => {
          await pruneRounds(other);
          await openSlot(scene, 1);
        }),
      );
      await pruneRounds(store);
      expect(await openSlots(scene)).toEqual([2, 1]);
    },
  },
  {
    name: "work that is planned while a slot is emptied is not left without its body",
    async run(scene) {
      const other = await openInSlot(scene);
      await acceptAll(other, ["ended"], settled);
      await openSlot(scene, 2);
      const { seq } = (await other.getEvent("ended")) ?? expect.unreachable();
      let planned: Promise<number> | undefined;
      const store = await scene.open(
        scene.poolWith(/^TRUNCATE/, async () => {
          planned = other.replan({ seq, handlers: ["h"], now: T });
          await Promise.race([planned, scene.untilWaiting(1)]);
        }),
      );
      await pruneRounds(store);
      expect(await planned).toBe(0);
    },
  },
  {
    name: "work that is planned before a slot is locked keeps its body",
    async run(scene) {
      const other = await openInSlot(scene);
      await acceptAll(other, ["planned", "ended"], settled);
      await openSlot(scene, 2);
      const { seq } = (await other.getEvent("planned")) ?? expect.unreachable();
      const store = await scene.open(
        scene.poolWith(/ACCESS EXCLUSIVE/, async () => {
          expect(await other.replan({ seq, handlers: ["h"], now: T })).toBe(1);
        }),
      );
      await pruneRounds(store);
      expect(await idsIn(scene, "inbox_body")).toEqual(["planned"]);
    },
  },
  {
    name: "a body that is moved later is found by transactions from before, too",
    async run(scene) {
      const store = await openInSlot(scene);
      await acceptAll(store, ["planned", "ended"], settled);
      await openSlot(scene, 2);
      await pruneRound(store, ENDED.now);
      const { seq } = (await store.getEvent("planned")) ?? expect.unreachable();
      expect(await store.replan({ seq, handlers: ["h"], now: T })).toBe(1);
      const { schema } = scene.database;
      const reader = await scene.begin();
      await reader.query(`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM ${schema}.inbox_event`);
      await pruneRound(store, ENDED.now + CLEAR_FOR_MS);
      const { rows } = await reader.query(`SELECT seq FROM ${schema}.inbox_work JOIN ${schema}.inbox_body USING (seq)`);
      expect(rows).toHaveLength(1);
    },
  },
  {
    name: "a transaction that sees an earlier state finds the bodies that were wanted then",
    async run(scene) {
      const store = await openInSlot(scene);
      await acceptAll(store, ["pending"]);
      const settledLater = await acceptLeased(store, "settled later");
      await acceptAll(store, ["ended"], settled);
      await openSlot(scene, 2);
      const { schema } = scene.database;
      const reader = await scene.begin();
      await reader.query(`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM ${schema}.inbox_event`);
      await store.settle(settlements.done(settledLater));
      await pruneRound(store, ENDED.now);
      await pruneRound(store, ENDED.now + CLEAR_FOR_MS - 1);
      const { rows } = await reader.query(`SELECT seq FROM ${schema}.inbox_work JOIN ${schema}.inbox_body USING (seq)`);
      expect(rows).toHaveLength(2);
    },
  },
  {
    name: "a slot that is read is left after a moment",
    async run(scene) {
      const alarms: StoreAlarm[] = [];
      const store = await scene.open(scene.database.pool, { onAlarm: (alarm) => alarms.push(alarm) });
      await openSlot(scene, 1);
      await acceptAll(store, ["first", "ended"], settled);
      await openSlot(scene, 2);
      await readBodies(scene);
      await pruneRounds(store, { ...ENDED, bodiesBefore: T + DAY });
      // A statement that waits for longer ends as a slow one.
      expect(alarms).toMatchObject([{ kind: "bodies_blocked", reason: "in_use", sessions: [{}] }]);
      expect(await openSlots(scene)).toEqual([1, 2]);
    },
  },
];
