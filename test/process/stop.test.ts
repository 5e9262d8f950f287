import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { countBy, readInboxFile, readUndone } from "../support/inbox-file.js";
import { type ReceiverConfig, type ReceiverProcess, findFreePort, startReceiver } from "../support/receiver-process.js";
import { SECRET, createScratch } from "../support/scratch.js";
import { startLoad } from "../support/load.js";
import { ServiceSender } from "../support/service-sender.js";
import { waitUntil } from "../support/wait-until.js";

const CLEAN = { code: 0, signal: null };

/** STOP_ROUNDS: how often a receiver is stopped under load. */
const ROUNDS = Number(process.env["STOP_ROUNDS"] ?? 2);

async function prepare(
  over: Partial<ReceiverConfig> = {},
): Promise<{ config: ReceiverConfig; sender: ServiceSender; start: () => Promise<ReceiverProcess> }> {
  const port = await findFreePort();
  const config: ReceiverConfig = {
    ...createScratch(),
    port,
    secret: SECRET,
    concurrency: 2,
    handlers: { only: { kind: "commit" } },
    ...over,
  };
  const sender = new ServiceSender({ secret: SECRET, port: () => port, random: Math.random });
  return {
    config,
    sender,
    async start() {
      const started = startReceiver(config);
      expect(await started.line("ready")).toBeDefined();
      return started;
    },
  };
}

describe("SIGTERM", () => {
  it.each([
    { handlers: "slower than the deliveries", waitMs: 20, concurrency: 4, leavesWork: true },
    // Then the stop meets events that are being stored while their places are reserved.
    { handlers: "faster than the deliveries", waitMs: 0, concurrency: 16, leavesWork: false },
  ])(
    "SIGTERM under load counts no crash and leaves no lease, with handlers $handlers",
    { timeout: 180_000 + ROUNDS * 15_000 },
    async ({ waitMs, concurrency, leavesWork }) => {
      const { config, sender, start } = await prepare({
        concurrency,
        handlers: { commits: { kind: "commit" }, appends: { kind: "append" } },
      });
      let receiver = await start();
      const load = startLoad({
        sender,
        tasks: () => ({ commits: { waitMs }, appends: { waitMs } }),
        burst: () => 40,
        pauseMs: () => 120,
        twiceEvery: 5,
      });
      const left: string[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        await sleep(100 + round * 17);
        await sender.untilInFlight(20);
        receiver.signal("SIGTERM");
        expect(await receiver.ended).toEqual(CLEAN);
        left.push(...readUndone(config.file).map(({ state, started, finished }) => `${state} ${started}/${finished}`));
        receiver = await start();
      }
      const { events } = load;
      const delivered = await load.stop();
      await waitUntil("the rest is done", () => readUndone(config.file).length === 0);
      receiver.signal("SIGTERM");
      expect(await receiver.ended).toEqual(CLEAN);
      sender.close();
      console.info(`stop.test: ${events.length} events, ${left.length} pieces of work left at ${ROUNDS} stops`);

      expect(delivered.filter((delivery) => !delivery.delivered)).toEqual([]);
      if (leavesWork) expect(left.length, "work was left at the stops").toBeGreaterThan(0);
      expect(
        countBy(
          left.filter((state) => state !== "pending 0/0"),
          (state) => state,
        ),
      ).toEqual(new Map());
      const { effects, done } = readInboxFile(config.file);
      expect(effects.map(({ id }) => id).toSorted()).toEqual(events.map(({ id }) => id).toSorted());
      expect(new Set(done.map(({ attempts }) => attempts))).toEqual(new Set([1]));
    },
  );

  // A closed listener leaves nothing but stop() itself to keep the process alive until the work is settled.
  it("SIGTERM aborts a handler that takes too long, and it runs again, also where no retries are left", async () => {
    const options = { stopTimeoutMs: 200, retry: { maxAttempts: 1 }, closeListenerFirst: true };
    const { config, sender, start } = await prepare(options);
    const first = await start();
    const event = { id: "evt_long", tasks: { only: { untilAborted: true, tellStart: true } } };
    expect(await sender.attempt(event)).toMatchObject({ status: 200 });
    await first.line("begun");
    sender.close();
    first.signal("SIGTERM");
    expect(await first.ended).toEqual(CLEAN);
    expect(await first.line("aborted")).toMatchObject({ eventId: "evt_long", code: "stopped" });
    expect(await first.line("stopped")).toBeDefined();
    const stopped = readInboxFile(config.file);
    expect(stopped.effects).toEqual([]);
    expect(stopped.work).toEqual([
      { id: "evt_long", handler: "only", state: "pending", reason: null, started: 1, finished: 1 },
    ]);

    const second = await start();
    await waitUntil("it is done", () => readUndone(config.file).length === 0);
    second.signal("SIGTERM");
    expect(await second.ended).toEqual(CLEAN);
    expect(readInboxFile(config.file).effects).toEqual([
      { id: "evt_long", handler: "only", attempt: 2, pid: second.pid },
    ]);
  });
});

it.each([
  ["with nothing left to do ends on its own after stop()", "start-and-stop", "stopped"],
  ["is not kept running by the thread or the timers of a started receiver", "start-only", "ready"],
] as const)("a process %s", async (_, mode, last) => {
  const { config } = await prepare({ mode });
  const receiver = startReceiver(config);
  expect(await receiver.ended).toEqual(CLEAN);
  expect(receiver.lines.at(-1)).toMatchObject({ msg: last });
});
