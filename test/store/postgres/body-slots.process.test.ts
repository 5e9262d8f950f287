import { randomBytes } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { type PostgresStore, createPostgresStore } from "#pigeonhole/store/postgres/postgres-store.js";
import { startPostgresRelay } from "../../support/postgres-relay.js";
import { describeOnPostgres, startPostgres } from "../../support/postgres-server.js";
import { DAY, NOTHING_TO_PRUNE, T, TRACE, newEvent, settlements, context } from "../conformance/new-event.js";
import { acceptAll, acceptLeased, leasePage } from "../conformance/lease-page.js";
import { HOUR, MINUTE } from "#pigeonhole/base/duration.js";
import type { StoreAlarm } from "#pigeonhole/store/store.js";
import { borrowClient, openStore } from "./store-on.js";
import { operate } from "../../support/operate.js";
import { measureSlowness } from "../../support/slowness.js";

/** Nobody waits for these. */
const settled = { work: [] };

/** All that was received until a day after T may go. */
const A_DAY_ON = { ...NOTHING_TO_PRUNE, bodiesBefore: T + DAY };

/** What was received at T has just ended. */
const JUST_ENDED = { ...NOTHING_TO_PRUNE, bodiesBefore: T + 1 };

describeOnPostgres((database) => {
  const { schema } = database;

  /** Lets the bodies of the next events go into another slot. */
  async function openSlot(slot: number, openedAt = T - HOUR): Promise<void> {
    await database.pool.query(`INSERT INTO ${schema}.inbox_body_slot (slot, opened_at) VALUES ($1, $2)`, [
      slot,
      openedAt,
    ]);
  }

  async function openSlots(): Promise<number[]> {
    const { rows } = await database.pool.query<{ slot: number }>(
      `SELECT slot FROM ${schema}.inbox_body_slot ORDER BY opened`,
    );
    return rows.map(({ slot }) => slot);
  }

  /** Which events have their bodies where; 0 is in no slot. */
  async function placesOf(): Promise<Record<string, number>> {
    const { rows } = await database.pool.query<{ id: string; place: string }>(
      `SELECT e.id, substring(b.tableoid::regclass::text FROM 'inbox_body_?(.*)$') AS place
       FROM ${schema}.inbox_body AS b JOIN ${schema}.inbox_event AS e USING (seq) ORDER BY e.seq`,
    );
    return Object.fromEntries(rows.map(({ id, place }) => [id, Number(place)]));
  }

  async function bytesOfBodies(): Promise<number> {
    const { rows } = await database.pool.query<{ bytes: string }>(
      `SELECT sum(pg_total_relation_size(c.oid)) AS bytes FROM pg_class AS c
       WHERE relnamespace = '${schema}'::regnamespace AND relkind = 'r' AND relname LIKE 'inbox_body%'`,
    );
    return Number(rows[0]?.bytes);
  }

  /** A store whose bodies go into slot 1; the statement that finds it out stores an event itself. */
  async function openInSlot(): Promise<PostgresStore> {
    const store = await openStore(database);
    await openSlot(1);
    await acceptAll(store, ["in no slot"], settled);
    return store;
  }

  async function pruneOnce(store: PostgresStore, limits: Partial<typeof NOTHING_TO_PRUNE>): Promise<void> {
    while ((await store.prune({ ...NOTHING_TO_PRUNE, ...limits })) > 0) continue;
  }

  /** A round, and the next one, in which what was moved has been elsewhere for long enough. */
  async function pruneRound(store: PostgresStore, limits: Partial<typeof NOTHING_TO_PRUNE>): Promise<void> {
    await pruneOnce(store, limits);
    await pruneOnce(store, { ...limits, now: (limits.now ?? NOTHING_TO_PRUNE.now) + HOUR });
  }

  const idsWithBody = async (store: PostgresStore): Promise<string[]> => {
    const events = await Promise.all(
      (await operate(store).listEvents({ limit: 500 })).items.toReversed().map(({ id }) => store.getEvent(id)),
    );
    return events.flatMap((event) => (event === undefined || event.body === null ? [] : [event.id]));
  };

  /** Of each state in which work may be, one event in the current slot. */
  async function acceptWanted(store: PostgresStore): Promise<string[]> {
    await acceptAll(store, ["pending"], { trace: TRACE });
    await acceptLeased(store, "leased");
    await store.settle(settlements.dead(await acceptLeased(store, "dead")));
    await store.settle(settlements.parked(await acceptLeased(store, "parked")));
    await store.accept(newEvent("not understood", { work: [], parked: { reason: "not_json", detail: "" } }));
    return ["pending", "leased", "dead", "parked", "not understood"];
  }

  describe("storing", () => {
    test("bodies go into the slot that was opened last, and are read from any", async () => {
      const store = await openInSlot();
      await acceptAll(store, ["a"]);
      await openSlot(5);
      // Its process does not know the slot yet. In the one before it could be emptied too soon.
      await acceptAll(store, ["b", "c"]);
      await openSlot(2);
      await acceptAll(store, ["d", "e"]);
      expect(await placesOf()).toEqual({ "in no slot": 0, a: 1, b: 0, c: 5, d: 0, e: 2 });
      for (const id of ["a", "b", "c", "d", "e"]) {
        expect((await store.getEvent(id))?.body?.toString()).toBe(`{"id":"${id}"}`);
      }
      expect((await leasePage(store)).work.map(({ body }) => Buffer.from(body).toString())).toHaveLength(5);
    });

    test("a body of a duplicate is stored in no slot a second time", async () => {
      const store = await openInSlot();
      await acceptAll(store, ["a"]);
      await openSlot(2);
      await acceptAll(store, ["b", "a", "b"]);
      expect(await placesOf()).toEqual({ "in no slot": 0, a: 1, b: 0 });
    });
  });

  test("a slot is opened once there are many bodies, and the next one after a part of the time for which they are kept", async () => {
    const store = await openStore(database);
    const large = Array.from({ length: 14 }, () => randomBytes(5 * 1024 * 1024));
    const acceptMany = async (name: string, receivedAt: number): Promise<void> => {
      for (const [index, body] of large.entries()) {
        await store.accept(newEvent(`${name} ${index}`, { body, receivedAt, ...settled }));
      }
    };
    await acceptAll(store, ["small"], settled);
    const at = (now: number) => ({ now, idsBefore: 0, bodiesBefore: now - 6 * DAY });
    await pruneOnce(store, at(T));
    expect(await openSlots()).toEqual([]);
    await acceptMany("first", T);
    await pruneOnce(store, at(T));
    expect(await openSlots()).toEqual([1]);
    await acceptAll(store, ["after the first"], settled);
    await acceptMany("second", T);
    await pruneOnce(store, at(T + DAY - 1));
    expect(await openSlots()).toEqual([1]);
    await pruneOnce(store, at(T + DAY));
    expect(await openSlots()).toEqual([1, 2]);
    // There is little in it.
    await pruneOnce(store, at(T + 3 * DAY));
    expect(await openSlots()).toEqual([1, 2]);
    await acceptMany("received ahead", T + 400 * DAY);
    await pruneOnce(store, at(T + 4 * DAY));
    expect(await openSlots()).toEqual([1, 2, 3]);
  });

  describe("emptying", () => {
    test("the disk of a slot is given back once its bodies have ended, and ids stay", async () => {
      const store = await openInSlot();
      const before = await bytesOfBodies();
      const body = randomBytes(100_000);
      for (let index = 0; index < 30; index += 1) await store.accept(newEvent(`evt_${index}`, { body, ...settled }));
      expect(await bytesOfBodies()).toBeGreaterThan(before + 3_000_000);
      await openSlot(2);
      await pruneRound(store, A_DAY_ON);
      expect(await bytesOfBodies()).toBeLessThanOrEqual(before + 8_192);
      expect(await openSlots()).toEqual([2]);
      expect(await idsWithBody(store)).toEqual([]);
      expect(await store.accept(newEvent("evt_7", { body }))).toEqual({ kind: "duplicate", otherBytes: false });
    });

    test("bodies that are still wanted are moved out of their slot", async () => {
      const store = await openInSlot();
      const wanted = await acceptWanted(store);
      await store.settle(settlements.done(await acceptLeased(store, "done")));
      await openSlot(2);
      const before = await Promise.all(wanted.map((id) => store.getEvent(id)));
      await pruneRound(store, { ...A_DAY_ON, idsBefore: T + DAY, batch: 2 });
      expect(await openSlots()).toEqual([2]);
      expect(await placesOf()).toEqual(Object.fromEntries(wanted.map((id) => [id, 0])));
      expect(await Promise.all(wanted.map((id) => store.getEvent(id)))).toEqual(before);
      const leased = (await leasePage(store)).work.map(({ eventId, trace }) => [eventId, trace]);
      expect(leased).toEqual([["pending", TRACE]]);
      // Rows in no slot end one by one.
      await operate(store).changeEvent("discard", "dead");
      await pruneRound(store, A_DAY_ON);
      expect(await idsWithBody(store)).toEqual(wanted.filter((id) => id !== "dead"));
    });

    test("a slot stays until its newest body has ended, and its events stay with it", async () => {
      const store = await openInSlot();
      await acceptAll(store, ["old"], settled);
      await store.accept(newEvent("newest", { ...settled, receivedAt: T + DAY }));
      await openSlot(2, T + DAY);
      await store.accept(newEvent("later", { ...settled, receivedAt: T + 2 * DAY }));
      const ended = T + DAY + MINUTE;
      await pruneRound(store, { bodiesBefore: ended, idsBefore: ended });
      expect(await idsWithBody(store)).toEqual(["old", "newest", "later"]);
      await pruneRound(store, { bodiesBefore: ended + 1, idsBefore: ended + 1 });
      expect((await operate(store).listEvents({})).items.map(({ id }) => id)).toEqual(["later"]);
    });

    test("errors in full go with the bodies of their slot", async () => {
      const store = await openInSlot();
      for (const id of ["failed", "dead"]) {
        const lease = await acceptLeased(store, id);
        await store.settle({ ...settlements.pending(lease, T), stack: `${id}: it failed` });
        const [again] = (await leasePage(store)).work;
        await store.settle(settlements[id === "dead" ? "dead" : "done"]({ ...(again ?? lease), handler: "h" }));
      }
      await openSlot(2);
      await pruneRound(store, A_DAY_ON);
      const { rows } = await database.pool.query(`SELECT stack FROM ${schema}.inbox_failed`);
      expect(rows).toEqual([{ stack: "dead: it failed" }]);
    });

    test("two processes that empty a slot at once, and a third that does not know of it, lose nothing", async () => {
      const [store, second, third] = [await openInSlot(), await openStore(database), await openStore(database)];
      await acceptAll(third, ["third in no slot", "third"], settled);
      const wanted = await acceptWanted(store);
      await acceptAll(
        store,
        Array.from({ length: 100 }, (_, index) => `evt_${index}`),
        settled,
      );
      await openSlot(2);
      let late = 0;
      const rounds = [store, second].map((each) => pruneRound(each, { ...A_DAY_ON, batch: 1 }));
      const accepting = async (): Promise<void> => {
        for (; late < 20; late += 1) await third.accept(newEvent(`late ${late}`, { receivedAt: T + 2 * DAY }));
      };
      await Promise.all([...rounds, accepting()]);
      await pruneRound(store, A_DAY_ON);
      expect(await openSlots()).toEqual([2]);
      const lates = Array.from({ length: late }, (_, index) => `late ${index}`);
      expect((await idsWithBody(store)).toSorted()).toEqual([...wanted, ...lates].toSorted());
    });

    test("a slot that someone reads is emptied later, and deliveries are stored and answered meanwhile", async () => {
      const store = await openInSlot();
      await acceptAll(store, ["old"], settled);
      await openSlot(2);
      const reader = await borrowClient(database.pool);
      await reader.query(`BEGIN; SELECT count(*) FROM ${schema}.inbox_body`);
      const tookMs: number[] = [];
      const ending = new AbortController();
      const accepting = async (): Promise<void> => {
        for (let index = 0; !ending.signal.aborted; index += 1) {
          const begunAt = performance.now();
          await store.accept(newEvent(`evt_${index}`, { receivedAt: T + 2 * DAY }));
          tookMs.push(performance.now() - begunAt);
        }
      };
      const rounds = async (): Promise<void> => {
        for (let round = 0; round < 20; round += 1) await pruneRound(store, JUST_ENDED);
        ending.abort();
      };
      await Promise.all([accepting(), rounds()]);
      expect(await openSlots()).toEqual([1, 2]);
      expect((await store.getEvent("old"))?.body).toBeInstanceOf(Uint8Array);
      expect(tookMs.length).toBeGreaterThan(20);
      // One that waits for the lock waits for longer than this.
      expect(tookMs.toSorted((a, b) => a - b)[Math.floor(tookMs.length / 2)]).toBeLessThan(50 * measureSlowness());
      await reader.query("COMMIT");
      await pruneRound(store, JUST_ENDED);
      expect(await openSlots()).toEqual([2]);
      expect(await store.getEvent("old")).toMatchObject({ body: null });
    });

    test("a slot that cannot be emptied for a day raises an alarm once a day, and its bodies stay", async () => {
      const alarms: StoreAlarm[] = [];
      const store = await openStore(database, database.pool, { onAlarm: (alarm) => alarms.push(alarm) });
      await openSlot(1);
      await acceptAll(store, ["in no slot", "old"], settled);
      await acceptAll(store, ["pending"]);
      await openSlot(2, T);
      const reader = await borrowClient(database.pool);
      await reader.query(`SET application_name = 'reports'; BEGIN; SELECT 1 FROM ${schema}.inbox_body`);
      const { rows } = await reader.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      const prune = (day: number) =>
        pruneOnce(store, { ...JUST_ENDED, bodiesBefore: T + day, now: T + 90 * DAY + day });
      for (const day of [DAY / 2, DAY - 1]) await prune(day);
      expect(alarms).toEqual([]);
      expect(await idsWithBody(store)).toEqual(["old", "pending"]);
      for (const day of [DAY, DAY + 1, 2 * DAY - 1]) await prune(day);
      const sessions = [{ pid: rows[0]?.pid, application: "reports" }];
      expect(alarms).toEqual([{ kind: "bodies_blocked", reason: "in_use", lateMs: DAY, sessions }]);
      expect(await placesOf()).toEqual({ old: 1, pending: 0 });
      await prune(2 * DAY);
      expect(alarms.slice(1)).toEqual([{ kind: "bodies_blocked", reason: "in_use", lateMs: 2 * DAY, sessions }]);
      expect(await openSlots()).toEqual([1, 2]);
      await reader.query("COMMIT; SET application_name = ''");
      await prune(3 * DAY);
      expect(await openSlots()).toEqual([2]);
      expect(alarms).toHaveLength(2);
    });

    test("bodies end by their arrival before the next slot was opened, whatever a clock that was ahead wrote", async () => {
      const store = await openInSlot();
      await store.accept(newEvent("received ahead", { ...settled, receivedAt: T + 400 * DAY }));
      await openSlot(2, T + 400 * DAY);
      await pruneRound(store, { now: T, bodiesBefore: T - DAY });
      expect(await openSlots()).toEqual([1, 2]);
      await pruneRound(store, { now: T + 2 * DAY, bodiesBefore: T + DAY });
      expect(await openSlots()).toEqual([2]);
    });

    test("without the right to TRUNCATE, deliveries are stored, bodies in slots stay, and an alarm says so", async () => {
      const owner = await openStore(database);
      const role = `${schema}_role`;
      await database.pool.query(
        `CREATE ROLE ${role} LOGIN; GRANT USAGE ON SCHEMA ${schema} TO ${role};
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role};
         GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role}`,
      );
      onTestFinished(() => void database.pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`));
      const alarms: StoreAlarm[] = [];
      const url = Object.assign(new URL(database.url), { username: role }).href;
      const store = await openStore(database, url, { onAlarm: (alarm) => alarms.push(alarm) });
      await openSlot(1);
      await acceptAll(store, ["in no slot", "old"], settled);
      await acceptAll(store, ["pending"]);
      await openSlot(2);
      await pruneRound(store, { ...JUST_ENDED, idsBefore: T + 1 });
      await pruneRound(store, { ...JUST_ENDED, idsBefore: T + 1 });
      expect(alarms).toEqual([{ kind: "bodies_blocked", reason: "refused", lateMs: HOUR + 1, sessions: [] }]);
      expect((await operate(store).listEvents({})).items.map(({ id }) => id)).toEqual(["pending", "old"]);
      await acceptAll(store, ["new in no slot", "new"], { receivedAt: T + DAY });
      expect(await placesOf()).toEqual({ old: 1, pending: 0, "new in no slot": 0, new: 2 });
      expect(await openSlots()).toEqual([1, 2]);
      await pruneRound(owner, JUST_ENDED);
      expect(await openSlots()).toEqual([2]);
    });

    test(
      "a process that is killed at any statement of the retention leaves all that is wanted, and the next one ends it",
      { timeout: 120_000 },
      async () => {
        const relay = await startPostgresRelay(database.url);
        const store = await openStore(database);
        let hasEnded = false;
        for (let statements = 0; !hasEnded; statements += 1) {
          expect(statements).toBeLessThan(100);
          await openSlot(1);
          await acceptAll(store, ["in no slot"], settled);
          const wanted = ["pending"];
          await acceptAll(store, wanted);
          await acceptAll(store, ["ended"], settled);
          await openSlot(2);
          const cut = createPostgresStore({ connectionString: relay.url, schema });
          onTestFinished(() => cut.close());
          await cut.open(context);
          relay.statementsLeft = statements;
          const pruning = pruneOnce(cut, A_DAY_ON).then(() => cut.prune({ ...A_DAY_ON, now: A_DAY_ON.now + HOUR }));
          hasEnded = await pruning.then(
            () => true,
            () => false,
          );
          relay.statementsLeft = Infinity;
          await cut.close();
          expect(await idsWithBody(store)).toEqual(expect.arrayContaining(wanted));
          await pruneRound(store, A_DAY_ON);
          expect(await idsWithBody(store)).toEqual(wanted);
          expect(await openSlots()).toEqual([2]);
          const tables = ["inbox_event", "inbox_body", "inbox_work", "inbox_body_slot"];
          await database.pool.query(tables.map((table) => `DELETE FROM ${schema}.${table}`).join("; "));
        }
      },
    );

    test("an address is erased from a body that was moved, and from one in a slot", async () => {
      const store = await openInSlot();
      const body = Buffer.from('{"email":"ann@example.com"}');
      await store.accept(newEvent("moved", { body }));
      await store.accept(newEvent("last", { body, ...settled }));
      await openSlot(2);
      await pruneRound(store, A_DAY_ON);
      expect(await placesOf()).toEqual({ moved: 0 });
      await store.accept(newEvent("in no slot 2", { body, ...settled }));
      await store.accept(newEvent("in a slot", { body, ...settled }));
      await operate(store).erase({ email: "ann@example.com" });
      expect(await placesOf()).toEqual({});
    });
  });
}, startPostgres);
