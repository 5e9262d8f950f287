import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { countBy, readInboxFile, readUndone } from "../support/inbox-file.js";
import { type ReceiverProcess, findFreePort, startReceiver } from "../support/receiver-process.js";
import { SECRET, createScratch } from "../support/scratch.js";
import { startLoad } from "../support/load.js";
import { ServiceSender, type TestEvent } from "../support/service-sender.js";
import { waitUntil } from "../support/wait-until.js";

const CLEAN = { code: 0, signal: null };
/** Longest time in which work that one process accepted waits for the process that runs handlers. */
const SOON_MS = 20_000;

interface Port {
  port: number;
  start(): Promise<ReceiverProcess>;
}

/** Two ports of one service, on one file. */
async function preparePair(): Promise<{ file: string; a: Port; b: Port }> {
  const { file } = createScratch();
  const onPort = (port: number): Port => ({
    port,
    async start() {
      const started = startReceiver({
        file,
        port,
        secret: SECRET,
        concurrency: 4,
        handlers: { one: { kind: "commit" }, two: { kind: "commit" } },
      });
      expect(await started.line("ready"), "comes up beside a process that lives").toBeDefined();
      return started;
    },
  });
  return { file, a: onPort(await findFreePort()), b: onPort(await findFreePort()) };
}

function makeEvents(name: string, count: number, { one, two } = { one: 5, two: 10 }): TestEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `${name}_${index}`,
    tasks: { one: { waitMs: one }, two: { waitMs: two } },
  }));
}

function expectOnce(file: string, events: readonly TestEvent[]): void {
  const expected = events.flatMap(({ id }) => [`${id} one`, `${id} two`]).toSorted();
  const { effects, done, work, integrity } = readInboxFile(file);
  expect(effects.map(({ id, handler }) => `${id} ${handler}`).toSorted()).toEqual(expected);
  expect(done.map(({ id, handler }) => `${id} ${handler}`).toSorted()).toEqual(expected);
  expect(work).toEqual([]);
  expect(integrity).toBe("ok");
}

describe("two processes on one file", () => {
  it(
    "two processes on one file both accept, and the older one runs the handlers, also for what the younger accepted",
    { timeout: 90_000 },
    async () => {
      const { file, a, b } = await preparePair();
      const older = await a.start();
      const younger = await b.start();
      const toA = new ServiceSender({ secret: SECRET, port: () => a.port, random: Math.random });
      const toB = new ServiceSender({ secret: SECRET, port: () => b.port, random: Math.random });
      // The last third goes to both at once.
      const events = makeEvents("evt", 150);
      const delivered = await Promise.all([
        ...events.filter((_, index) => index < 50 || index >= 100).map((event) => toA.deliver(event)),
        ...events.slice(50).map((event) => toB.deliver(event)),
      ]);
      expect(delivered.filter((delivery) => !delivery.delivered)).toEqual([]);
      expect(readInboxFile(file).events).toHaveLength(150);
      await waitUntil("all is done", SOON_MS, () => readUndone(file).length === 0);
      // Now nothing goes to the older one that could wake it.
      const onlyB = makeEvents("only_b", 20);
      for (const event of onlyB) expect(await toB.attempt(event)).toMatchObject({ status: 200 });
      await waitUntil("what only the younger one has seen is done", SOON_MS, () => readUndone(file).length === 0);

      expectOnce(file, [...events, ...onlyB]);
      expect([...countBy(readInboxFile(file).effects, ({ pid }) => String(pid)).keys()]).toEqual([String(older.pid)]);
      toA.close();
      toB.close();
      for (const process of [younger, older]) {
        process.signal("SIGTERM");
        expect(await process.ended).toEqual(CLEAN);
      }
    },
  );

  it(
    "a rolling deploy under load answers every delivery, and loses and repeats nothing",
    { timeout: 120_000 },
    async () => {
      const { file, a, b } = await preparePair();
      let older = await a.start();
      const sender = new ServiceSender({
        secret: SECRET,
        // As behind a balancer that does not know who is up: the attempts of an event go to the ports in turn.
        port: (attempt, id) => ((attempt + Number(id.split("_")[1])) % 2 === 0 ? a.port : b.port),
        random: Math.random,
      });
      const load = startLoad({
        sender,
        tasks: () => ({ one: { waitMs: 5 }, two: { waitMs: 10 } }),
        burst: () => 6,
        pauseMs: () => 30,
        // Both copies of an event go to the same port first, and to the other one after a failure.
        twiceEvery: 3,
      });
      // b replaces a, a replaces b, and so on; the one that goes is stopped or killed.
      for (const [round, signal] of (["SIGTERM", "SIGKILL", "SIGTERM", "SIGKILL"] as const).entries()) {
        const next = await (round % 2 === 0 ? b : a).start();
        await sleep(300);
        older.signal(signal);
        expect(await older.ended).toEqual(signal === "SIGTERM" ? CLEAN : { code: null, signal });
        await waitUntil("the younger one runs handlers", SOON_MS, () =>
          readInboxFile(file).effects.some(({ pid }) => pid === next.pid),
        );
        older = next;
      }
      const { events } = load;
      const delivered = await load.stop();
      sender.close();
      await waitUntil("all is done", 20_000, () => readUndone(file).length === 0);
      older.signal("SIGTERM");
      expect(await older.ended).toEqual(CLEAN);

      expect(delivered.filter((delivery) => !delivery.delivered)).toEqual([]);
      expectOnce(file, events);
      const pids = countBy(readInboxFile(file).effects, ({ pid }) => String(pid));
      expect(pids.size, "all five processes ran handlers, one after the other").toBe(5);
      console.info(`two-processes.test: ${events.length} events, effects by process ${[...pids.values()].join(", ")}`);
    },
  );
});
