import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { signDelivery } from "pigeonhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { findFreePort } from "../support/receiver-process.js";
import { createRandom, seedOfRun } from "../support/seeded-random.js";
import { tempFile } from "../support/receiver.js";
import { startContactEventService } from "../support/contact-event-service.js";

const SECRET = "whsec_Yp3lT0wJ9vQe6RkXa8sZc2uNf5hGmB1d";
const KILLS = 10;
const DELIVERIES = 160;
const script = fileURLToPath(new URL("crash-receiver.mjs", import.meta.url));

interface Stats {
  pending: number;
  running: number;
  outbox: { pending: number; leased: number; dead: number };
}

/** A receiver process that is killed and started again. */
function createProcess(config: { file: string; port: number; secret: string; baseUrl: string }) {
  let child: ChildProcess | undefined;
  return {
    async start(): Promise<void> {
      child = spawn(process.execPath, [script, JSON.stringify(config)], { stdio: ["ignore", "pipe", "ignore"] });
      if (child.stdout !== null) await once(child.stdout, "data");
    },
    async kill(): Promise<NodeJS.Signals | null> {
      if (child === undefined) return null;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      return child.signalCode;
    },
  };
}

/** Posts until it is answered 2xx, as the service does in fast time. */
async function deliver(url: string, id: string): Promise<void> {
  const body = Buffer.from(JSON.stringify({ id, type: "email.sent", createdAt: "2026-01-01T09:00:00Z", data: {} }));
  for (let attempt = 0; attempt < 2_000; attempt += 1) {
    const headers = { ...signDelivery({ body, secret: SECRET }), "content-type": "application/json" };
    const status = await fetch(url, { method: "POST", body, headers }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 0,
    );
    if (status >= 200 && status <= 299) return;
    await sleep(25);
  }
  throw new Error(`${id} was never taken.`);
}

test("every record of a receiver that is killed again and again is stored at the service exactly once", async () => {
  const seed = seedOfRun();
  const random = createRandom(seed);
  const service = await startContactEventService();
  onTestFinished(() => service.close());
  service.faultOf = () => (random() < 0.3 ? "lost" : undefined);
  const port = await findFreePort();
  const receiver = createProcess({ file: tempFile(), port, secret: SECRET, baseUrl: service.baseUrl });
  onTestFinished(async () => void (await receiver.kill()));
  await receiver.start();

  const url = `http://127.0.0.1:${port}`;
  const ids = Array.from({ length: DELIVERIES }, (_, index) => `evt_${index}`);
  const deliveries: Promise<void>[] = [];
  let kills = 0;
  for (const [index, id] of ids.entries()) {
    deliveries.push(deliver(`${url}/hooks`, id));
    await sleep(random() * 12);
    if ((index + 1) % (DELIVERIES / KILLS) !== 0) continue;
    await sleep(random() * 120);
    expect(await receiver.kill()).toBe("SIGKILL");
    kills += 1;
    await receiver.start();
  }
  await Promise.all(deliveries);
  service.faultOf = () => undefined;

  await expect
    .poll(
      async () => {
        const stats = (await (await fetch(`${url}/stats`)).json()) as Stats;
        return { pending: stats.pending, running: stats.running, outbox: stats.outbox };
      },
      { timeout: 60_000, interval: 100, message: `seed ${seed}` },
    )
    .toMatchObject({ pending: 0, outbox: { pending: 0, leased: 0, dead: 0 } });

  const sent = service.stored.map(({ event }) => `${event.name} ${String(event.properties?.["id"])}`);
  const expected = ids.flatMap((id) => [`first.seen ${id}`, `second.seen ${id}`]);
  expect(kills).toBe(KILLS);
  expect(sent.toSorted(), `seed ${seed}`).toEqual(expected.toSorted());
  expect(service.refused, `seed ${seed}`).toEqual([]);
  expect(service.calls.some(({ fault }) => fault === "lost")).toBe(true);
}, 120_000);
