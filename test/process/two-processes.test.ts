import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { countBy, readInboxFile, readUndone } from "../support/inbox-file.js";
import { type ReceiverProcess, findFreePort, startReceiver } from "../support/receiver-process.js";
import { SECRET, createScratch } from "../support/scratch.js";
import { startLoad } from "../support/load.js";
import { ServiceSender, type TestEvent } from "../support/service-sender.js";
import { waitUntil } from "../support/wait-until.js";

const CLEAN = { code: 0, signal: null };

function expectOnce(file: string, events: readonly TestEvent[]): void {
  const expected = events.flatMap(({ id }) => [`${id} one`, `${id} two`]).toSorted();
  const { effects, done, work, integrity } = readInboxFile(file);
  expect(effects.map(({ id, handler }) => `${id} ${handler}`).toSorted()).toEqual(expected);
  expect(done.map(({ id, handler }) => `${id} ${handler}`).toSorted()).toEqual(expected);
  expect(work).toEqual([]);
  expect(integrity).toBe("ok");
}

test(
  "a rolling deploy under load answers every delivery, and loses and repeats nothing",
  { timeout: 360_000 },
  async () => {
    const { file } = createScratch();
    const handlers = { one: { kind: "commit" as const }, two: { kind: "commit" as const } };
    const start = async (port: number): Promise<ReceiverProcess> => {
      const started = startReceiver({ file, port, secret: SECRET, concurrency: 4, handlers });
      expect(await started.line("ready"), "comes up beside a process that lives").toBeDefined();
      return started;
    };
    const [a, b] = [await findFreePort(), await findFreePort()];
    let older = await start(a);
    const sender = new ServiceSender({
      secret: SECRET,
      // As behind a balancer that does not know who is up: the attempts of an event go to the ports in turn.
      port: (attempt, id) => ((attempt + Number(id.split("_")[1])) % 2 === 0 ? a : b),
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
      const next = await start(round % 2 === 0 ? b : a);
      await sleep(300);
      older.signal(signal);
      expect(await older.ended).toEqual(signal === "SIGTERM" ? CLEAN : { code: null, signal });
      await waitUntil("the younger one runs handlers", () =>
        readInboxFile(file).effects.some(({ pid }) => pid === next.pid),
      );
      older = next;
    }
    const { events } = load;
    const delivered = await load.stop();
    sender.close();
    await waitUntil("all is done", () => readUndone(file).length === 0);
    older.signal("SIGTERM");
    expect(await older.ended).toEqual(CLEAN);

    expect(delivered.filter((delivery) => !delivery.delivered)).toEqual([]);
    expectOnce(file, events);
    const pids = countBy(readInboxFile(file).effects, ({ pid }) => String(pid));
    expect(pids.size, "all five processes ran handlers, one after the other").toBe(5);
    console.info(`two-processes.test: ${events.length} events, effects by process ${[...pids.values()].join(", ")}`);
  },
);
