import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { countBy, readInboxFile, readUndone } from "../support/inbox-file.js";
import { type ReceiverConfig, type ReceiverProcess, findFreePort, startReceiver } from "../support/receiver-process.js";
import { SECRET, createScratch } from "../support/scratch.js";
import { startLoad } from "../support/load.js";
import { ServiceSender, type TestEvent } from "../support/service-sender.js";
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

function begunIn(receiver: ReceiverProcess): string[] {
  return receiver.lines.filter(({ msg }) => msg === "begun").map(({ eventId }) => String(eventId));
}

function statesOf(file: string): Map<string, number> {
  return countBy(readUndone(file), ({ state, started, finished }) => `${state} ${started}/${finished}`);
}

describe("SIGTERM", () => {
  it.each([
    { closeListenerFirst: false, refusal: "answered 503" },
    { closeListenerFirst: true, refusal: "refused by the closed listener" },
  ])(
    "SIGTERM lets running handlers end and leaves the rest to the next process, and deliveries meanwhile are $refusal",
    async ({ closeListenerFirst }) => {
      const { config, sender, start } = await prepare({ closeListenerFirst, stopTimeoutMs: 20_000 });
      const first = await start();
      // They run for as long as the test needs them to, however slow the machine is.
      const untilFile = `${config.file}.handlers-may-end`;
      const events = Array.from({ length: 12 }, (_, index): TestEvent => ({
        id: `evt_${index}`,
        tasks: { only: { untilFile, tellStart: true } },
      }));
      for (const event of events) expect(await sender.attempt(event)).toMatchObject({ status: 200 });
      await waitUntil("two handlers run", 5_000, () => begunIn(first).length === 2);
      first.signal("SIGTERM");
      await first.line("stopping");
      // A connection of its own: the listener, not a kept one, decides.
      const late = new ServiceSender({ secret: SECRET, port: () => config.port, random: Math.random });
      const whileDraining = await late.attempt({ id: "evt_late", tasks: {} });
      late.close();
      expect(first.hasEnded, "the delivery came while handlers ran").toBe(false);
      writeFileSync(untilFile, "");
      expect(await first.ended).toEqual(CLEAN);

      if (closeListenerFirst) {
        expect(whileDraining.status).toBeNull();
      } else {
        // On a connection that is kept, a busy client would keep the process from its end, and its attempts from the
        // next one.
        const stopping = { status: 503, body: "stopping", retryAfterSeconds: 30, connection: "close" };
        expect(whileDraining).toEqual(stopping);
      }
      const begun = begunIn(first);
      const stopped = readInboxFile(config.file);
      expect(stopped.events.map(({ id }) => id)).not.toContain("evt_late");
      expect(stopped.effects.map(({ id }) => id).toSorted()).toEqual(begun.toSorted());
      expect(begun).toHaveLength(2);
      // started 0: as if it had never been leased, so nothing can take it for a crash later.
      expect(statesOf(config.file)).toEqual(new Map([["pending 0/0", 10]]));

      const second = await start();
      await waitUntil("the rest is done", 15_000, () => readUndone(config.file).length === 0);
      second.signal("SIGTERM");
      expect(await second.ended).toEqual(CLEAN);
      const { effects } = readInboxFile(config.file);
      expect(effects.map(({ id }) => id).toSorted()).toEqual(events.map(({ id }) => id).toSorted());
      expect(effects.map(({ attempt }) => attempt)).toEqual(events.map(() => 1));
      const bySecond = effects.filter(({ pid }) => pid === second.pid);
      expect(bySecond).toHaveLength(10);
      sender.close();
    },
  );

  it.each([
    { handlers: "slower than the deliveries", waitMs: 10, concurrency: 4, leavesWork: true },
    // Then the stop meets events that are being stored while their places are reserved.
    { handlers: "faster than the deliveries", waitMs: 0, concurrency: 16, leavesWork: false },
  ])(
    "SIGTERM under load counts no crash and leaves no lease, with handlers $handlers",
    { timeout: 60_000 + ROUNDS * 15_000 },
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
      await waitUntil("the rest is done", 30_000, () => readUndone(config.file).length === 0);
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

  it.each([
    { retries: "some", retry: {}, closeListenerFirst: false },
    { retries: "no", retry: { maxAttempts: 1 }, closeListenerFirst: false },
    // Then nothing but stop() itself is left to keep the process alive until the work is settled.
    { retries: "some", retry: {}, closeListenerFirst: true },
  ])(
    "SIGTERM aborts a handler that takes too long, and it runs again ($retries retries, listener closed first: $closeListenerFirst)",
    async ({ retry, closeListenerFirst }) => {
      const { config, sender, start } = await prepare({ stopTimeoutMs: 200, retry, closeListenerFirst });
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
      await waitUntil("it is done", 10_000, () => readUndone(config.file).length === 0);
      second.signal("SIGTERM");
      expect(await second.ended).toEqual(CLEAN);
      expect(readInboxFile(config.file).effects).toEqual([
        { id: "evt_long", handler: "only", attempt: 2, pid: second.pid },
      ]);
    },
  );
});

describe("a process with nothing left to do", () => {
  it("a process with nothing left to do ends on its own after stop()", async () => {
    const { config } = await prepare({ mode: "start-and-stop" });
    const receiver = startReceiver(config);
    expect(await receiver.ended).toEqual(CLEAN);
    expect(receiver.lines.at(-1)).toMatchObject({ msg: "stopped" });
  });

  it("a process is not kept running by the thread or the timers of a started receiver", async () => {
    const { config } = await prepare({ mode: "start-only" });
    const receiver = startReceiver(config);
    expect(await receiver.ended).toEqual(CLEAN);
    expect(receiver.lines.at(-1)).toMatchObject({ msg: "ready" });
  });
});
