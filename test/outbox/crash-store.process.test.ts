import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createSqliteStore, type Store } from "pigeonhole";
import type { FrozenSend } from "#pigeonhole/store/outbox.js";
import { expect, onTestFinished, test } from "vitest";
import { createRandom, seedOfRun } from "../support/seeded-random.js";
import { tempFile } from "../support/receiver.js";
import { context, DAY } from "../store/conformance/fixture.js";
import { settleAll } from "../store/conformance/outbox-fixture.js";
import { ContactEventSlots } from "../store/model/contact-event-slots.js";

const KILLS = 8;
const script = fileURLToPath(new URL("crash-store.mjs", import.meta.url));

async function start(config: { folder: string; file: string; life: string; isCommandLine: boolean }) {
  const child: ChildProcess = spawn(process.execPath, [script, JSON.stringify(config)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const kill = async (): Promise<NodeJS.Signals | null> => {
    child.kill("SIGKILL");
    await ended;
    return child.signalCode;
  };
  onTestFinished(async () => void (await kill()));
  if (child.stdout !== null) await Promise.race([once(child.stdout, "data"), ended]);
  return { kill };
}

/** What the processes noted, without lines that a death cut short. */
function notes<Value>(folder: string, name: string): Value[] {
  const file = join(folder, name);
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  return lines.flatMap((line) => {
    try {
      return line === "" ? [] : [JSON.parse(line) as Value];
    } catch {
      return [];
    }
  });
}

/** Sends all that waits and all that is dead, once more and to the end. */
async function drain(store: Store, service: ContactEventSlots): Promise<void> {
  const now = Date.now() + DAY;
  for (;;) {
    const { items } = await store.listOutbox({ state: "dead", limit: 500 });
    for (const { key } of items) await store.retryOutbox(key, now);
    for (;;) {
      const { send } = await store.leaseSend({ now, leaseUntil: now + 1, limit: 100 });
      if (send === undefined) break;
      service.take(send);
      await settleAll(store, send, "done");
    }
    if (items.length === 0) return;
  }
}

test("a store whose process is killed during runs, calls and deletions, beside another process, sends each record once", async () => {
  const seed = seedOfRun();
  const random = createRandom(seed);
  const file = tempFile();
  const folder = dirname(file);
  let commandLine: Awaited<ReturnType<typeof start>> | undefined;
  for (let life = 0; life < KILLS; life += 1) {
    const receiver = await start({ folder, file, life: `${seed}_${life}`, isCommandLine: false });
    commandLine ??= await start({ folder, file, life: `${seed}_command_line`, isCommandLine: true });
    await sleep(200 + random() * 600);
    expect(await receiver.kill()).toBe("SIGKILL");
  }
  expect(await commandLine?.kill()).toBe("SIGKILL");

  const service = new ContactEventSlots();
  for (const call of notes<FrozenSend>(folder, "arrived")) service.take(call);
  const store = createSqliteStore({ file });
  onTestFinished(() => store.close());
  await store.open(context);
  await store.recover(Date.now());
  await drain(store, service);

  expect(service.stored.length, `seed ${seed}`).toBeGreaterThan(100);
  expect(service.stored, `seed ${seed}`).toHaveLength(new Set(service.stored).size);
  expect(service.reused, `seed ${seed}`).toEqual([]);
  const ended = new Set([...service.stored, ...notes<string>(folder, "discarded").map((key) => JSON.stringify(key))]);
  const lost = notes<string>(folder, "recorded").filter((key) => !ended.has(JSON.stringify(key)));
  expect(lost, `seed ${seed}`).toEqual([]);
  expect(await store.countOutbox()).toMatchObject({ pending: 0, leased: 0, dead: 0 });
}, 60_000);
