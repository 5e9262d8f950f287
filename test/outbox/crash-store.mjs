// A process that works on a store until it is killed: runs that record, calls to a service that is a file, retention of
// almost nothing. With `isCommandLine` it is the command line of the same file, which retries and discards.

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "#pigeonhole/base/random.js";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { createSqliteStore } from "pigeonhole";

/** @type {{ folder: string, file: string, life: string, isCommandLine: boolean }} */
const { folder, file, life, isCommandLine } = JSON.parse(process.argv[2] ?? "{}");
const random = seededRandom(life);
const store = patient(createSqliteStore({ file }));
const LEASE_MS = 60_000;

/** A line break in front too: what a death cut short must not spoil the next line. */
const note = (name, value) => appendFileSync(join(folder, name), `\n${JSON.stringify(value)}\n`);

/** Quiet for all, long enough for everything to be sent and removed. */
let quietUntil = 0;

async function runHandlers(name) {
  for (let run = 0; ; run += 1) {
    const id = `${life}_${name}_${run}`;
    const now = Date.now();
    const body = Buffer.from("{}");
    const work = [{ handler: "h", leaseUntil: now + LEASE_MS }];
    const event = { id, type: "email.sent", test: false, receivedAt: now, signedAt: now, body, work };
    const { leases } = await store.accept(event);
    const keys = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, index) => `${id}_${index}`);
    const records = keys.map((key) => ({ key, body: JSON.stringify(key), occurredAt: now }));
    const done = { ...leases[0], to: "done", at: now, dropSteps: false, records };
    if (random() < 0.5) await store.settle(done);
    else await store.commit(done, () => undefined);
    for (const key of keys) note("recorded", key);
    if (random() < 0.01) quietUntil = Date.now() + 150;
    await sleep(Math.max(random() * 3, quietUntil - Date.now()));
  }
}

const endings = {
  stored: ({ seq }) => ({ seq, to: "done", remoteId: "cev", replayed: false }),
  refused: ({ seq }, index) =>
    index === 0 ? { seq, to: "dead", reason: "refused", code: "c", param: "", message: "m" } : { seq, to: "again" },
};

function settlementOf(send, arrive) {
  const at = Date.now();
  const { token } = send;
  const base = { send: send.send, token, at };
  const chance = random();
  if (chance < 0.1) return { ...base, to: "pending", dueAt: at + 1, error: "never arrived" };
  // Only a body that was never taken can be refused for its shape.
  if (chance < 0.2 && send.attempt === 1) return { ...base, to: "settled", results: send.events.map(endings.refused) };
  arrive();
  if (chance < 0.3) return { ...base, to: "pending", dueAt: at + 1, error: "no answer" };
  if (chance < 0.4) return { ...base, to: "dead", reason: "too_old", message: "m" };
  return { ...base, to: "settled", results: send.events.map(endings.stored) };
}

async function deliver() {
  for (;;) {
    const now = Date.now();
    const limit = 1 + Math.floor(random() * 40);
    const { send } = await store.leaseSend({ now, leaseUntil: now + LEASE_MS, limit });
    await sleep(random() * 2);
    if (send !== undefined) await store.settleSend(settlementOf(send, () => note("arrived", send)));
  }
}

async function prune() {
  for (;;) {
    const now = Date.now();
    const before = now - random() * 20;
    await store.prune({ now, idsBefore: before, bodiesBefore: 0, sentBefore: before, batch: 7 });
    await sleep(random() * 5);
  }
}

async function meddle() {
  for (;;) {
    const { items } = await store.listOutbox({ state: random() < 0.8 ? "dead" : "pending", limit: 20 });
    for (const { key, state } of items) {
      if (state === "dead" && random() < 0.7) {
        await store.retryOutbox(key, Date.now());
      } else if (random() < 0.3) {
        // Before it is done, since a death may come in between.
        note("discarded", key);
        await store.discardOutbox(key, Date.now());
      }
    }
    await sleep(10);
  }
}

/** Two processes write: one may have to come again. */
function patient(impatient) {
  const call = async (name, args) => {
    for (;;) {
      try {
        return await impatient[name](...args);
      } catch (error) {
        if (error.code !== "store_busy") throw error;
      }
      await sleep(5);
    }
  };
  return new Proxy(impatient, {
    get:
      (_, name) =>
      (...args) =>
        call(name, args),
  });
}

await store.open({ logger: silentLogger });
if (isCommandLine) {
  process.stdout.write("ready\n");
  await meddle();
}
while (!(await store.recover(Date.now())).owner) await sleep(10);
process.stdout.write("ready\n");
await Promise.all([runHandlers("a"), runHandlers("b"), deliver(), prune()]);
