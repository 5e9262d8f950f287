import { setTimeout as sleep } from "node:timers/promises";
import { fakeClock } from "pigeonhole/testing";
import { Pool } from "pg";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { isoTime } from "#pigeonhole/base/iso-time.js";
import { TAKEN_OVER_AFTER_MS } from "#pigeonhole/store/work-state.js";
import { type RelayFault, startPostgresRelay } from "../support/postgres-relay.js";
import { type TestDatabase, describeOnPostgres } from "../support/postgres-server.js";
import { type Node, type NodeOptions, createNode, postInTurn } from "./shared-nodes.js";
import { borrowClient } from "../store/postgres/store-on.js";
import { captureLog, makeEvent, makeGate, post, untilWork, workOf } from "../support/receiver.js";

/** A receiver on the database that repeats what fails at once. */
const createOn = (database: TestDatabase, options: NodeOptions = {}): Node =>
  createNode(database, { pool: database.pool, retry: { initialMs: 10, maxMs: 10, maxAttempts: 3 }, ...options });

describeOnPostgres((database) => {
  const effects = "public.effects";
  beforeAll(async () => {
    await database.pool.query(`CREATE TABLE ${effects} (event text, receiver int)`);
  });
  // Runs after what a test itself registers: its receivers are stopped by then.
  beforeEach(() =>
    onTestFinished(async () => {
      await database.pool.query(`TRUNCATE ${effects}`);
      await database.pool.query(`DROP SCHEMA IF EXISTS ${database.schema} CASCADE`);
    }),
  );

  async function readEffects(): Promise<string[]> {
    const { rows } = await database.pool.query<{ event: string }>(`SELECT event FROM ${effects}`);
    return rows.map(({ event }) => event);
  }

  /** Two receivers, each with what `register` gives it, started. */
  async function startTwo(register: (receiver: Node, number: number) => unknown, options: NodeOptions = {}) {
    const receivers = [createOn(database, options), createOn(database, options)] as const;
    for (const [number, receiver] of receivers.entries()) {
      register(receiver, number);
      await receiver.start();
    }
    return receivers;
  }

  describe("two receivers on one database", () => {
    test.each([{ key: undefined }, { key: () => "all" }])(
      "a new handler of two receivers gets each stored event once, and new events before the rest, %o",
      async ({ key }) => {
        const before = createOn(database, { role: "accept" });
        await before.start();
        for (let index = 0; index < 60; index += 1) await post(before, makeEvent());
        const ran: string[] = [];
        const run = async ({ id }: { id: string }) => {
          ran.push(id);
          await sleep(10);
        };
        const handler = { name: "score@2", ...(key && { key }) };
        const [first] = await startTwo((receiver) => receiver.on("email.sent", run, handler), { concurrency: 2 });
        expect(await first.inbox.plan({ handler: "score@2" })).toMatchObject({ events: 60 });
        await expect.poll(() => ran.length).toBeGreaterThan(4);
        const fresh = makeEvent();
        await post(first, fresh);
        const ranBefore = ran.length;
        await expect.poll(() => ran.indexOf(fresh.id)).toBeGreaterThan(0);
        // Each process has leased two pieces for each of its two places at most.
        expect(ran.indexOf(fresh.id) - ranBefore).toBeLessThanOrEqual(8);
        await expect.poll(() => ran.length).toBe(61);
        expect(new Set(ran).size).toBe(61);
      },
    );

    test("of two receivers on one database, one at a time handles events of a key", async () => {
      let [running, most] = [0, 0];
      const ran = new Set<number>();
      const run = async (number: number): Promise<void> => {
        running += 1;
        most = Math.max(most, running);
        ran.add(number);
        await sleep(20);
        running -= 1;
      };
      const receivers = await startTwo((receiver, number) =>
        receiver.on("email.sent", () => run(number), { key: () => "same" }),
      );
      const events = Array.from({ length: 16 }, () => makeEvent());
      await postInTurn(receivers, events);
      await expect.poll(async () => (await receivers[0].stats()).done).toBe(events.length);
      const [one = expect.unreachable()] = ran;
      await receivers[one]?.stop({ timeoutMs: 0 });
      await post(receivers[1 - one] ?? expect.unreachable(), makeEvent());
      await expect.poll(() => ran.size).toBe(2);
      expect(most).toBe(1);
    });

    test("of two receivers on one database, neither runs an older event of a key after a newer one", async () => {
      let isRunning = false;
      const receivers = await startTwo((receiver, number) =>
        receiver.on(
          "email.sent",
          async ({ id }, { attempt, commit }) => {
            expect(isRunning).toBe(false);
            isRunning = true;
            await sleep(5).finally(() => (isRunning = false));
            if (attempt === 1 && Number(id.at(-1)) % 3 === 0) throw new Error("the first time");
            await commit(({ client }) => client.query(`INSERT INTO ${effects} VALUES ($1, $2)`, [id, number]));
          },
          { key: () => "same", only: "newest" },
        ),
      );
      const second = (number: number): string => String(number).padStart(2, "0");
      // In no order: 7 and 60 have no common divisor.
      const events = Array.from({ length: 60 }, (_, index) => second((index * 7) % 60)).map((of) =>
        makeEvent({ id: `at_${of}`, createdAt: `2026-01-01T09:00:${of}Z` }),
      );
      for (const [index, event] of events.entries()) {
        await post(receivers[index % 2] ?? expect.unreachable(), event);
        if (index % 10 === 0) await sleep(50);
      }
      const open = async () => {
        const { pending, retrying, running } = await receivers[0].stats();
        return pending + retrying + running;
      };
      await expect.poll(open).toBe(0);
      const ran = await readEffects();
      expect(ran).toEqual([...new Set(ran)].toSorted());
      expect(ran.at(-1)).toBe("at_59");
      expect(ran.length).toBeLessThan(events.length);
    });

    test("of two receivers on one database, each takes batches of its own, and every event is written once", async () => {
      const sizes: number[] = [];
      const failed = new Set<string>();
      const receivers = await startTwo((receiver, number) =>
        receiver.onBatch(
          "email.sent",
          async (events, ctx) => {
            sizes.push(events.length);
            const [failing, ...others] = events;
            if (failing !== undefined && ctx.of(failing).attempt === 1) ctx.fail(failing, new Error("the first time"));
            const good = failing === undefined || ctx.of(failing).attempt > 1 ? events : others;
            if (good.length < events.length) failed.add(failing?.id ?? "");
            await ctx.commit(async ({ client }) => {
              for (const { id } of good) await client.query(`INSERT INTO ${effects} VALUES ($1, $2)`, [id, number]);
            });
          },
          { max: 20, wait: "50ms" },
        ),
      );
      const events = Array.from({ length: 200 }, () => makeEvent());
      await postInTurn(receivers, events);
      await expect.poll(async () => (await receivers[0].stats()).done).toBe(events.length);
      expect((await readEffects()).toSorted()).toEqual(events.map(({ id }) => id).toSorted());
      expect(Math.max(...sizes)).toBe(20);
      expect(failed.size).toBeGreaterThan(1);
    });

    test("much work of one key leaves room for other keys, and is all done in the end", async () => {
      const [accepting, working] = [createOn(database, { role: "accept" }), createOn(database, { concurrency: 2 })];
      const gate = makeGate();
      let [running, most] = [0, 0];
      const others: string[] = [];
      const handle = async ({ data }: { data: Record<string, unknown> }): Promise<void> => {
        if (data["of"] !== "busy") return void others.push(String(data["of"]));
        running += 1;
        most = Math.max(most, running);
        await gate.passed;
        running -= 1;
      };
      for (const receiver of [accepting, working]) {
        receiver.on("email.sent", handle, { key: ({ data }) => String(data["of"]) });
        await receiver.start();
        if (receiver === working) continue;
        const keys = [...Array.from({ length: 200 }, () => "busy"), "a", "b", "c", "a"];
        for (const of of keys)
          expect(await post(accepting, makeEvent({ data: { of } }))).toMatchObject({ status: 200 });
      }
      await expect.poll(() => others.toSorted()).toEqual(["a", "a", "b", "c"]);
      gate.open();
      await expect.poll(async () => (await working.stats()).done).toBe(204);
      expect(most).toBe(1);
    });

    test("a receiver that stops does not ask for the keys of its work any more", async () => {
      const log = captureLog();
      const [first, second] = [createOn(database), createOn(database, { logger: log.logger })];
      const [gate, begun] = [makeGate(), makeGate()];
      first.on(
        "email.sent",
        () => {
          begun.open();
          return gate.passed;
        },
        { key: () => "same" },
      );
      second.on("email.sent", () => expect.unreachable(), { key: () => "same" });
      await first.start();
      await post(first, makeEvent());
      await begun.passed;
      await second.start();
      await post(second, makeEvent());
      await sleep(300);
      await second.stop({ timeoutMs: 0 });
      await sleep(1_500);
      expect(log.named("handler_queue_failed")).toEqual([]);
      gate.open();
    });
  });

  test("a run whose lease another process has taken is aborted, and writes nothing", async () => {
    const clock = fakeClock();
    const log = captureLog();
    const receiver = createOn(database, { clock, logger: log.logger });
    const [begun, ended] = [makeGate(), makeGate()];
    let signal: AbortSignal | undefined;
    receiver.on("email.sent", async (_, ctx) => {
      ({ signal } = ctx);
      begun.open();
      await ended.passed;
    });
    await receiver.start();
    const event = makeEvent();
    await post(receiver, event, { at: clock.now() });
    await begun.passed;
    // As another process takes it, whose own try waits.
    await database.pool.query(`
      UPDATE ${database.schema}.inbox_work
      SET state = 'pending', due_at = 8e15, lease = NULL, lease_until = NULL, process = NULL`);
    const isAborted = async (): Promise<boolean | undefined> => {
      await clock.advance(600);
      return signal?.aborted;
    };
    await expect.poll(isAborted, { interval: 5 }).toBe(true);
    expect(signal?.reason).toMatchObject({ code: "lease_lost" });
    await expect.poll(() => log.named("lease_lost")).toHaveLength(1);
    ended.open();
    await untilWork(receiver, event.id, { state: "pending", attempts: 1, dueAt: isoTime(8e15) });
  });

  test("after a machine was suspended, work that waited in it does not begin under its old lease, nor count as crashed", async () => {
    const clock = fakeClock();
    const receiver = createOn(database, { clock, concurrency: 2 });
    const gate = makeGate();
    const begun: string[] = [];
    receiver.on(
      "email.sent",
      async ({ id }) => {
        begun.push(id);
        await gate.passed;
      },
      { timeoutMs: 3_600_000 },
    );
    await receiver.start();
    const events = Array.from({ length: 4 }, () => makeEvent());
    for (const event of events) await post(receiver, event, { at: clock.now() });
    const [first, second, taken, waiting] = events.map(({ id }) => id);
    expect(begun).toEqual([first, second]);
    const taking = await database.pool.query(
      `UPDATE ${database.schema}.inbox_work SET lease = 1, process = 15, lease_until = 9e15
       WHERE state = 'leased' AND seq = (SELECT seq FROM ${database.schema}.inbox_event WHERE id = $1)`,
      [taken],
    );
    expect(taking.rowCount).toBe(1);
    // What is done about the leases waits, so that the places become free before it.
    const blocking = await borrowClient(database.pool);
    await blocking.query(`BEGIN; LOCK TABLE ${database.schema}.inbox_process`);
    await clock.advance(120_000);
    gate.open();
    await sleep(100);
    await blocking.query("ROLLBACK");
    const workOfWaiting = async () => (await clock.advance(600), await workOf(receiver, waiting ?? ""));
    await expect.poll(workOfWaiting, { interval: 5 }).toMatchObject({ state: "done", attempts: 1 });
    expect(begun).toEqual([first, second, waiting]);
  });

  test("work that could not be given back is given back later, and is not taken for crashed", async () => {
    const relay = await startPostgresRelay(database.url);
    const [clock, log] = [fakeClock(), captureLog()];
    const pool = new Pool({ connectionString: relay.url });
    const receiver = createOn(database, { pool, clock, logger: log.logger, concurrency: 1 });
    onTestFinished(() => pool.end());
    const gate = makeGate();
    receiver.on("email.sent", () => gate.passed, { timeoutMs: 3_600_000 });
    await receiver.start();
    const [running, waiting] = [makeEvent(), makeEvent()];
    for (const event of [running, waiting]) await post(receiver, event, { at: clock.now() });
    await untilWork(receiver, waiting.id, { state: "running" });
    const turn = async (): Promise<void> => clock.advance(600);
    relay.fault = { at: "statement", state: "53200", to: /SET state = 'pending', due_at = least/ };
    const failed = () => log.named("release_failed");
    await expect.poll(async () => (await turn(), failed()), { interval: 5 }).toHaveLength(1);
    relay.fault = undefined;
    gate.open();
    const workOfWaiting = async () => (await turn(), await workOf(receiver, waiting.id).catch(() => undefined));
    await expect.poll(workOfWaiting, { interval: 5 }).toMatchObject({ state: "done", attempts: 1 });
  });

  test.each<[string, RelayFault]>([
    ["its database", { at: "socket" }],
    ["the session that others see it by", { at: "connection", state: "53300", of: /pigeonhole session/ }],
  ])("without %s, a receiver aborts its runs before others take them over, and says so once", async (_, fault) => {
    const relay = await startPostgresRelay(database.url);
    const [clock, log] = [fakeClock(), captureLog()];
    const pool = new Pool({ connectionString: relay.url });
    pool.on("error", () => undefined);
    const receiver = createOn(database, { pool, clock, logger: log.logger });
    onTestFinished(() => pool.end());
    let signal: AbortSignal | undefined;
    receiver.on(
      "email.sent",
      (__, ctx) => {
        signal ??= ctx.signal;
        return new Promise((_resolve, reject) =>
          ctx.signal.addEventListener("abort", () => reject(new Error("aborted"))),
        );
      },
      { timeoutMs: 3_600_000 },
    );
    await receiver.start();
    await post(receiver, makeEvent(), { at: clock.now() });
    await expect.poll(() => signal).toBeDefined();
    relay.fault = fault;
    relay.cut();
    const cutAt = clock.now();
    // Longer than a round takes to fail.
    const turn = async (): Promise<void> => (await clock.advance(600), await sleep(50));
    await expect.poll(async () => (await turn(), signal?.aborted), { interval: 5 }).toBe(true);
    expect(clock.now() - cutAt).toBeLessThan(TAKEN_OVER_AFTER_MS);
    expect(signal?.reason).toMatchObject({ code: "lease_lost" });
    expect(log.named("run_interrupted")).toHaveLength(1);
    expect(log.named("maintenance_failed")).toHaveLength(1);
    relay.fault = undefined;
    const over = () => log.named("maintenance_works_again");
    await expect.poll(async () => (await turn(), over()), { interval: 5 }).toHaveLength(1);
  });

  test("a handler whose commit hangs for longer than its timeoutMs runs again", async () => {
    const receiver = createOn(database);
    receiver.on(
      "email.sent",
      async ({ id }, { attempt, commit }) =>
        commit(async ({ client }) => {
          await client.query(`INSERT INTO ${effects} (event, receiver) VALUES ($1, $2)`, [id, attempt]);
          if (attempt === 1) await new Promise(() => undefined);
        }),
      { timeoutMs: 200 },
    );
    await receiver.start();
    const event = makeEvent();
    await post(receiver, event);
    await untilWork(receiver, event.id, { state: "done", attempts: 2 });
    expect(await readEffects()).toEqual([event.id]);
  });
});
