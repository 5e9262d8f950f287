import { setTimeout as sleep } from "node:timers/promises";
import { signDelivery } from "pigeonhole/protocol";
import { describe, expect, it } from "vitest";
import { readInboxFile, readUndone } from "../support/inbox-file.js";
import { type ReceiverConfig, type ReceiverProcess, findFreePort, startReceiver } from "../support/receiver-process.js";
import { SECRET, createScratch } from "../support/scratch.js";
import { waitUntil } from "../support/wait-until.js";

const DAY = 24 * 3_600_000;
const AHEAD_MS = 400 * DAY;

/**
 * A process that begins a round of pruning does so 50 ms after its start; the first batches are through long before
 * this.
 */
const PRUNING_MS = 1_500;

async function createConfig(): Promise<ReceiverConfig> {
  const { file } = createScratch();
  return { file, port: await findFreePort(), secret: SECRET, handlers: { effect: { kind: "commit" } } };
}

async function startReady(config: ReceiverConfig): Promise<ReceiverProcess> {
  const started = startReceiver(config);
  expect(await started.line("ready")).toBeDefined();
  return started;
}

async function stop(receiver: ReceiverProcess): Promise<void> {
  receiver.signal("SIGTERM");
  await receiver.ended;
}

/** An event as the service makes it, now. */
function makeBody(id: string, tasks: object = {}): string {
  return JSON.stringify({ id, type: "email.sent", createdAt: new Date().toISOString(), data: { tasks } });
}

/** Signs and sends; `at` is the time of the signature. Resolves with the outcome. */
async function send({ port }: ReceiverConfig, body: string, at = Date.now()): Promise<string | null> {
  const headers = signDelivery({ body, secret: SECRET, timestamp: at });
  const response = await fetch(`http://127.0.0.1:${port}/hooks`, { method: "POST", body, headers });
  return response.headers.get("x-pigeonhole-outcome");
}

describe("a start with the clock 400 days ahead", () => {
  it(
    "a start with a clock 400 days ahead forgets no id, says so, and lets no event take effect twice",
    { timeout: 60_000 },
    async () => {
      const config = await createConfig();
      const bodies = Array.from({ length: 50 }, (_, index) => makeBody(`evt_${index}`));
      const first = await startReady(config);
      for (const body of bodies) expect(await send(config, body)).toBe("accepted");
      await waitUntil("all are handled", 10_000, () => readUndone(config.file).length === 0);
      await stop(first);

      const ahead = await startReady({ ...config, clockAheadMs: AHEAD_MS });
      // Replays of ours are signed with this machine's clock and tell nothing of the true time, be the id known or new.
      const replays = [bodies[0] ?? "", makeBody("evt_0-replay")];
      for (const body of replays) await send(config, body, Date.now() + AHEAD_MS);
      await sleep(PRUNING_MS);
      await stop(ahead);
      // Again, since the first wrong start must not make the second one believe it.
      const aheadAgain = await startReady({ ...config, clockAheadMs: AHEAD_MS });
      await sleep(PRUNING_MS);
      await stop(aheadAgain);

      const last = await startReady(config);
      const outcomes = new Set<string | null>();
      for (const body of bodies) outcomes.add(await send(config, body));
      await waitUntil("all are handled", 10_000, () => readUndone(config.file).length === 0);
      await stop(last);
      const { effects } = readInboxFile(config.file);
      expect(effects.map(({ id }) => id).toSorted()).toEqual(
        [...bodies.map((_, index) => `evt_${index}`), "evt_0-replay"].toSorted(),
      );
      expect([...outcomes]).toEqual(["duplicate"]);
      for (const { lines } of [ahead, aheadAgain]) {
        expect(lines).toContainEqual(
          expect.objectContaining({ alarm: "clock_skew", skewSeconds: expect.closeTo(AHEAD_MS / 1_000, -3) }),
        );
      }
    },
  );
});

describe("a clock that was a year ahead and is set back", () => {
  it.each(["while the receiver runs", "before the receiver starts again"])(
    "a retry waits as long as before if the clock was a year ahead and is set back %s",
    { timeout: 60_000 },
    async (when) => {
      const config = { ...(await createConfig()), retry: { initialMs: 500 } };
      const ahead = await startReady({ ...config, clockAheadMs: 365 * DAY });
      const outcome = await send(config, makeBody("evt_1", { effect: { failFirst: true } }), Date.now() + 365 * DAY);
      expect(outcome).toBe("accepted");
      await waitUntil("it waits", 10_000, () => readUndone(config.file)[0]?.finished === 1);
      let last = ahead;
      if (when === "while the receiver runs") {
        await fetch(`http://127.0.0.1:${config.port}/set-clock-right`);
      } else {
        ahead.signal("SIGKILL");
        await ahead.ended;
        last = await startReady(config);
      }
      await waitUntil("it is handled", 30_000, () => readUndone(config.file).length === 0);
      expect(readInboxFile(config.file).effects).toMatchObject([{ id: "evt_1", attempt: 2 }]);
      await stop(last);
    },
  );
});
