import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { buildSlowDisk } from "../bench/process/slow-disk.js";
import { createScratch as createBuildFolder } from "../bench/process/scratch.js";
import { countBy, readInboxFile } from "../support/inbox-file.js";
import { findFreePort, startReceiver } from "../support/receiver-process.js";
import { SECRET, createScratch } from "../support/scratch.js";
import { ServiceSender, type TestEvent } from "../support/service-sender.js";
import { measureSlowness } from "../support/slowness.js";
import { waitUntil } from "../support/wait-until.js";

const FSYNC_MS = 1_500;
const CONNECTIONS = 50;
/** SLOW_DISK_SECONDS: for how long. Even the short form has several commits one after the other. */
const LOAD_MS = Number(process.env["SLOW_DISK_SECONDS"] ?? 8) * 1_000;
/** 4 s, and what the way to the sender adds. */
const LATEST_ANSWER_MS = 4_500;

const slowDisk = buildSlowDisk(createBuildFolder(tmpdir()));

// The slow disk is a library that cc builds.
test.skipIf(!slowDisk.ok)(
  "each answer comes in time with an fsync of 1.5 s, and each event has one effect in the end",
  async () => {
    if (!slowDisk.ok) return;
    const port = await findFreePort();
    const handlers = { only: { kind: "commit" as const, concurrency: CONNECTIONS } };
    const config = { ...createScratch(), port, secret: SECRET, concurrency: CONNECTIONS, handlers };
    await startReceiver({ ...config, mode: "start-and-stop" }).ended;
    const receiver = startReceiver(config, slowDisk.environment(FSYNC_MS));
    expect(await receiver.line("ready")).toBeDefined();

    const sender = new ServiceSender({ secret: SECRET, port: () => port, random: Math.random, answerWithinMs: 30_000 });
    const latencies: number[] = [];
    const accepted: string[] = [];
    const refused: TestEvent[] = [];
    const sendOnce = async (event: TestEvent): Promise<void> => {
      const begun = performance.now();
      const { status, retryAfterSeconds } = await sender.attempt(event);
      latencies.push(performance.now() - begun);
      if (status === 200) return void accepted.push(event.id);
      expect({ status, retryAfterSeconds }).toEqual({ status: 503, retryAfterSeconds: 30 });
      refused.push(event);
      // No client asks again at once; the service waits for half a minute.
      await new Promise((resolve) => setTimeout(resolve, 100));
    };

    const end = performance.now() + LOAD_MS;
    let events = 0;
    const sendAll = async (): Promise<void> => {
      while (performance.now() < end) await sendOnce({ id: `evt_${(events += 1)}`, tasks: {} });
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, sendAll));
    const acceptedUnderLoad = accepted.length;
    const sendRefused = async (): Promise<void> => {
      for (let event = refused.shift(); event !== undefined; event = refused.shift()) await sendOnce(event);
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, sendRefused));
    sender.close();

    const inOrder = latencies.toSorted((a, b) => a - b);
    expect(inOrder.at(-1)).toBeLessThan(LATEST_ANSWER_MS * measureSlowness());
    expect(acceptedUnderLoad).toBeGreaterThan(0);
    expect(new Set(accepted).size).toBe(events);
    const effects = () => readInboxFile(config.file).effects;
    await waitUntil("each event has its effect", () => effects().length >= events);
    expect([...countBy(effects(), ({ id }) => id).values()].every((count) => count === 1)).toBe(true);
    expect(effects()).toHaveLength(events);
    receiver.signal("SIGKILL");
    await receiver.ended;
  },
);
