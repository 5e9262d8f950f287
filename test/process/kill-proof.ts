import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { createSqliteStore } from "pigeonhole";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { countBy, readInboxFile, readRows, readUndone } from "../support/inbox-file.js";
import { type ReceiverConfig, type ReceiverProcess, findFreePort, startReceiver } from "../support/receiver-process.js";
import { SECRET, createScratch } from "../support/scratch.js";
import { createRandom } from "../support/seeded-random.js";
import { startLoad } from "../support/load.js";
import { ServiceSender } from "../support/service-sender.js";
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
      history: { kind: "commit", types: OLD_TYPE },
    },
  };
  const old = await planHistory(file, wanted * 100);
  const readJob = () => readRows<HistoryJob>(file, "SELECT state, done FROM inbox_job")[0];
  const killedAt = new Set<number>();
  let isKilling = true;
  const sender = new ServiceSender({ secret: SECRET, port: () => port, random, isOutage: () => isKilling });
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
   * answered.
   */
  async function killAgainAndAgain(): Promise<ReceiverProcess> {
    for (; kills < wanted; kills += 1) {
      const victim = await startReady();
      await sleep(between(20, 900));
      if (random() < 0.5) {
        await sender.untilInFlight(8);
        await sleep(between(0, 10));
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
    }),
    burst: () => between(1, 24),
    pauseMs: () => between(20, 200),
    twiceEvery: 5,
  });
  const survivor = await killAgainAndAgain();
  isKilling = false;
  await waitUntil("enough events are sent", 30_000, () => load.events.length >= minEvents);
  const { events, sentTwice } = load;
  const delivered = await load.stop();
  sender.close();

  // A kill may hit the very run that two earlier kills have died in; such work is parked, and comes back by hand.
  await waitUntil("the history is planned", 30_000, () => readJob()?.state === "done");
  await waitUntil("handlers are through", 20_000, () => readUndone(file).every(({ state }) => state === "parked"));
  const parkedByKills = readUndone(file).length;
  if (parkedByKills > 0) {
    await fetch(`http://127.0.0.1:${port}/retry-parked`);
    await waitUntil("parked work is through", 10_000, () => readUndone(file).length === 0);
  }
  survivor.signal("SIGTERM");
  expect(await survivor.ended).toEqual({ code: 0, signal: null });

  const inbox = readInboxFile(file);
  const ids = events.map(({ id }) => id).toSorted();
  const appended = countBy(readFileSync(sideFile, "utf8").trimEnd().split("\n"), (id) => id);
  const attempts = delivered.flatMap((delivery) => delivery.attempts);
  const receivedAt = new Map(inbox.events.map((event) => [event.id, event.receivedAt]));
  const figures = {
    seed,
    kills,
    events: events.length,
    sentTwice: sentTwice.size,
    attempts: attempts.length,
    attemptsWithoutAnswer: attempts.filter(({ status }) => status === null).length,
    attemptsAnswered503: attempts.filter(({ status }) => status === 503).length,
    redeliveries: attempts.length - delivered.length,
    mostAttempts: Math.max(...delivered.map(({ attempts: tried }) => tried.length)),
    // Stored in an earlier attempt whose answer was lost.
    answersLostAfterCommit: delivered.filter(({ id, attempts: tried }) => {
      const last = tried.at(-1);
      return !sentTwice.has(id) && last !== undefined && (receivedAt.get(id) ?? Infinity) < last.at;
    }).length,
    workRecovered: processes
      .flatMap(({ lines }) => lines)
      .filter(({ msg }) => msg === "recovered_work_of_a_dead_process")
      .reduce((sum, { recovered }) => sum + Number(recovered), 0),
    parkedByKills,
    killsOfTheHistory: killedAt.size,
    extraRunsOfAppends: [...appended.values()].reduce((sum, runs) => sum + runs - 1, 0),
    seconds: Math.round((Date.now() - startedAt) / 1_000),
    leaseLost: processes.flatMap(({ lines }) => lines).filter(({ msg }) => msg === "lease_lost").length,
  };
  console.info("kill-proof:", JSON.stringify(figures));

  expect(
    delivered.filter((delivery) => !delivery.delivered),
    "deliveries that were lost",
  ).toEqual([]);
  expect(inbox.integrity).toBe("ok");
  expect(inbox.events.map(({ id }) => id).toSorted(), "events on disk").toEqual([...ids, ...old].toSorted());
  expect(inbox.work, "work that is not done").toEqual([]);
  const idsOf = (handler: string): string[] => (handler === "history" ? old : ids);
  for (const handler of HANDLERS) {
    const marks = inbox.done.filter((mark) => mark.handler === handler);
    expect(marks.map(({ id }) => id).toSorted(), `done marks of ${handler}`).toEqual(idsOf(handler));
  }
  for (const handler of ["commits", "fails-first", "history"]) {
    const effects = inbox.effects.filter((effect) => effect.handler === handler);
    expect(effects.map(({ id }) => id).toSorted(), `one effect of ${handler} per event`).toEqual(idsOf(handler));
  }
  expectNewestLast(
    inbox.effects.filter(({ handler }) => handler === "newest").map(({ id }) => Number(id.slice(4))),
    events.length,
  );
  expect([...appended.keys()].toSorted(), "an ordinary handler runs at least once").toEqual(ids);

  // Without these the kills would have hit nothing, and all of the above would say little.
  expect(figures.events).toBeGreaterThanOrEqual(minEvents);
  expect(figures.attemptsWithoutAnswer).toBeGreaterThan(0);
  expect(figures.workRecovered).toBeGreaterThan(0);
  expect(figures.killsOfTheHistory).toBeGreaterThan(0);
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
