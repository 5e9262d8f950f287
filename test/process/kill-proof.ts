import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { createSqliteStore } from "pigeonhole";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { type InboxFile, readInboxFile, readRows, readUndone } from "../support/inbox-file.js";
import { type ReceiverConfig, type ReceiverProcess, findFreePort, startReceiver } from "../support/receiver-process.js";
import { SECRET, createScratch } from "../support/scratch.js";
import { createRandom } from "../support/seeded-random.js";
import { startLoad } from "../support/load.js";
import { ServiceSender, type TestEvent } from "../support/service-sender.js";
import { waitUntil } from "../support/wait-until.js";

const HANDLERS = ["commits", "appends", "fails-first", "history"];

/** No event of the load has it. */
const OLD_TYPE = "form.submitted";

/** Stores events of before the handler "history", and plans them for it. */
async function planHistory(file: string, count: number): Promise<string[]> {
  const store = createSqliteStore({ file, thread: false });
  await store.open({ logger: silentLogger });
  const ids = Array.from({ length: count }, (_, index) => `old_${index}`);
  const times = { receivedAt: Date.now(), signedAt: Date.now() };
  const data = { tasks: { history: { waitMs: 40 } } };
  for (const id of ids) {
    const body = Buffer.from(JSON.stringify({ id, type: OLD_TYPE, createdAt: "2026-01-01T09:00:00Z", data }));
    await store.accept({ id, type: OLD_TYPE, test: false, body, ...times, work: [] });
  }
  const request = { handler: "history", handlerTypes: [OLD_TYPE], by: "test" };
  expect(await store.openOperator(Date.now).planHistory(request)).toMatchObject({ events: count });
  await store.close();
  return ids.toSorted();
}

interface HistoryJob {
  state: string;
  done: number;
}

/** Kills a receiver under load again and again; nothing may be lost, and no effect repeated. */
export async function proveKills({ seed, kills: wanted }: { seed: number; kills: number }): Promise<void> {
  const random = createRandom(seed);
  const between = (least: number, most: number): number => Math.floor(least + random() * (most - least + 1));
  const minEvents = wanted * 40;
  const startedAt = Date.now();
  const { file, sideFile } = createScratch();
  const port = await findFreePort();
  const config: ReceiverConfig = {
    file,
    sideFile,
    port,
    secret: SECRET,
    // A retry of an event gives it to all handlers of its type.
    handlers: {
      commits: { kind: "commit", types: "email.*" },
      appends: { kind: "append", types: "email.*" },
      "fails-first": { kind: "commit", types: "email.*" },
      newest: { kind: "newest", types: "email.*" },
      batches: { kind: "batch", types: "email.*", max: 20, wait: "100ms" },
      history: { kind: "commit", types: OLD_TYPE },
    },
  };
  const old = await planHistory(file, wanted * 100);
  const readJob = () => readRows<HistoryJob>(file, "SELECT state, done FROM inbox_job")[0];
  const isBatchLeased = () =>
    readRows(file, "SELECT 1 FROM inbox_work WHERE handler = 'batches' AND state = 'leased' LIMIT 1").length > 0;
  const killedAt = new Set<number>();
  // What was sent while no process ran has no attempt left when one runs again, which may be busy then.
  const sender = new ServiceSender({ secret: SECRET, port: () => port, random, isOutage: () => true });
  const processes: ReceiverProcess[] = [];
  let kills = 0;

  async function startReady(): Promise<ReceiverProcess> {
    const started = startReceiver(config);
    processes.push(started);
    expect(await started.line("ready"), "the receiver comes up after a kill").toBeDefined();
    return started;
  }

  /**
   * Half of the kills come at any time, half in the few milliseconds in which a burst is verified, committed and
   * answered. The first one comes while the history is planned and events wait for their batch.
   */
  async function killAgainAndAgain(): Promise<ReceiverProcess> {
    for (; kills < wanted; kills += 1) {
      const victim = await startReady();
      await sleep(between(20, 900));
      if (random() < 0.5) {
        await sender.untilInFlight(8);
        await sleep(between(0, 10));
      }
      if (kills === 0) {
        await waitUntil("the history has begun", () => (readJob()?.done ?? 0) > 0);
        await waitUntil("events wait for their batch", isBatchLeased);
      }
      victim.signal("SIGKILL");
      expect(await victim.ended).toEqual({ code: null, signal: "SIGKILL" });
      const { state, done = 0 } = readJob() ?? {};
      if (state === "open" && done > 0) killedAt.add(done);
    }
    return startReady();
  }

  const load = startLoad({
    sender,
    tasks: () => ({
      commits: { waitMs: between(0, 12) },
      appends: { waitMs: between(0, 5) },
      "fails-first": { failFirst: true },
      newest: { waitMs: between(0, 20), failFirst: random() < 0.2 },
      batches: { waitMs: between(0, 12), failFirst: random() < 0.1, failForGood: random() < 0.05 },
    }),
    burst: () => between(1, 24),
    pauseMs: () => between(20, 200),
    twiceEvery: 5,
  });
  const survivor = await killAgainAndAgain();
  await waitUntil("enough events are sent", () => load.events.length >= minEvents);
  const { events } = load;
  const delivered = await load.stop();
  sender.close();

  // A kill may hit the very run that two earlier kills have died in; such work is parked, and comes back by hand.
  await waitUntil("the history is planned", () => readJob()?.state === "done");
  const isIn = (...states: string[]) => readUndone(file).every(({ state }) => states.includes(state));
  await waitUntil("handlers are through", () => isIn("parked", "dead"));
  if (readUndone(file).some(({ state }) => state === "parked")) {
    await fetch(`http://127.0.0.1:${port}/retry-parked`);
    await waitUntil("parked work is through", () => isIn("dead"));
  }
  survivor.signal("SIGTERM");
  expect(await survivor.ended).toEqual({ code: 0, signal: null });

  const inbox = readInboxFile(file);
  const ids = events.map(({ id }) => id).toSorted();
  const appended = new Set(readFileSync(sideFile, "utf8").trimEnd().split("\n"));
  const attempts = delivered.flatMap((delivery) => delivery.attempts);
  const linesOf = (name: string) => processes.flatMap(({ lines }) => lines).filter(({ msg }) => msg === name);
  const figures = {
    seed,
    kills,
    events: events.length,
    attempts: attempts.length,
    attemptsWithoutAnswer: attempts.filter(({ status }) => status === null).length,
    workRecovered: linesOf("recovered_work_of_a_dead_process").reduce(
      (sum, { recovered }) => sum + Number(recovered),
      0,
    ),
    killsOfTheHistory: killedAt.size,
    largestBatch: Math.max(...linesOf("batch").map((line) => Number(line["events"]))),
    crashesInBatches: inbox.done
      .filter(({ handler }) => handler === "batches")
      .reduce((sum, { attempts: started, finished }) => sum + started - finished, 0),
    seconds: Math.round((Date.now() - startedAt) / 1_000),
  };
  console.info("kill-proof:", JSON.stringify(figures));

  expect(
    delivered.filter((delivery) => !delivery.delivered),
    "deliveries that were lost",
  ).toEqual([]);
  expect(inbox.integrity).toBe("ok");
  expect(inbox.events.map(({ id }) => id).toSorted(), "events on disk").toEqual([...ids, ...old].toSorted());
  expectBatchesByEvent(inbox, events);
  const idsOf = (handler: string): string[] => (handler === "history" ? old : ids);
  for (const handler of HANDLERS) {
    const marks = inbox.done.filter((mark) => mark.handler === handler);
    expect(marks.map(({ id }) => id).toSorted(), `done marks of ${handler}`).toEqual(idsOf(handler));
  }
  for (const handler of ["commits", "fails-first", "history"]) {
    const effects = inbox.effects.filter((effect) => effect.handler === handler);
    expect(effects.map(({ id }) => id).toSorted(), `one effect of ${handler} per event`).toEqual(idsOf(handler));
    expectInLastAttempt(inbox, handler);
  }
  expectNewestLast(
    inbox.effects.filter(({ handler }) => handler === "newest").map(({ id }) => Number(id.slice(4))),
    events.length,
  );
  expect([...appended].toSorted(), "an ordinary handler runs at least once").toEqual(ids);

  // Without these the kills would have hit nothing, and all of the above would say little.
  expect(figures.events).toBeGreaterThanOrEqual(minEvents);
  expect(figures.attemptsWithoutAnswer).toBeGreaterThan(0);
  expect(figures.workRecovered).toBeGreaterThan(0);
  expect(figures.killsOfTheHistory).toBeGreaterThan(0);
  expect(figures.largestBatch).toBeGreaterThan(1);
  expect(figures.crashesInBatches).toBeGreaterThan(0);
}

/** The attempt that a handler saw is the one that its work counts. */
function expectInLastAttempt({ effects, done }: InboxFile, name: string): void {
  const ofHandler = <Row extends { id: string; handler: string }>(rows: Row[], attemptOf: (row: Row) => number) =>
    rows
      .filter(({ handler }) => handler === name)
      .map((row) => `${row.id} ${attemptOf(row)}`)
      .toSorted();
  const seen = ofHandler(effects, ({ attempt }) => attempt);
  expect(seen, `attempts of ${name}`).toEqual(ofHandler(done, ({ attempts }) => attempts));
}

/**
 * Of the events of batches, those and no others are dead that each attempt failed; each of the others had one effect,
 * and no attempt counts as failed that failed another event of its batch.
 */
function expectBatchesByEvent(inbox: InboxFile, events: readonly TestEvent[]): void {
  const taskOf = new Map(events.map(({ id, tasks }) => [id, tasks["batches"]]));
  const idsWhere = (isBad: boolean): string[] =>
    [...taskOf].flatMap(([id, task]) => (task?.failForGood === isBad ? id : [])).toSorted();
  const left = inbox.work.map(
    ({ id, handler, state, reason, finished }) => `${id} ${handler} ${state} ${reason} ${finished}`,
  );
  const dead = idsWhere(true).map((id) => `${id} batches dead do_not_retry 1`);
  expect(left.toSorted(), "work that is not done").toEqual(dead);
  const ofBatches = ({ handler }: { handler: string }): boolean => handler === "batches";
  const ids = inbox.effects.filter((effect) => ofBatches(effect)).map(({ id }) => id);
  expect(ids.toSorted(), "one effect of batches per event").toEqual(idsWhere(false));
  expectInLastAttempt(inbox, "batches");
  const failedWithOthers = inbox.done
    .filter((mark) => ofBatches(mark))
    .filter(({ id, finished }) => finished > (taskOf.get(id)?.failFirst === true ? 2 : 1));
  expect(failedWithOthers, "events whose batch failed for another").toEqual([]);
}

/** Of three keys, what took effect is in the order of its time, each event once, and ends with the newest. */
function expectNewestLast(numbers: readonly number[], events: number): void {
  expect(numbers.length, "older events were superseded").toBeLessThan(events);
  for (const key of [0, 1, 2]) {
    const ofKey = numbers.filter((number) => number % 3 === key);
    expect(ofKey, "no older event after a newer one").toEqual([...new Set(ofKey)].toSorted((a, b) => a - b));
    expect(events - (ofKey.at(-1) ?? 0), "the newest took effect").toBeLessThanOrEqual(3);
  }
}
