// One life of a process that works on a store, which ends at the given statement that SQLite is given, before it runs.
// Every change of work is told in the log before it is asked for, and again once the store has answered.
import { openSync, writeSync } from "node:fs";
import Database from "better-sqlite3";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { createSqliteStore } from "#pigeonhole/store/sqlite/sqlite-store.js";

const T = 1_760_000_000_000;
const DAY = 86_400_000;
const [file, logFile, life, last] = process.argv.slice(2);
const log = openSync(logFile, "a");
const tell = (line) => writeSync(log, `${JSON.stringify(line)}\n`);

let statements = 0;
function dieAtLast() {
  statements += 1;
  if (statements === Number(last)) process.kill(process.pid, "SIGKILL");
}

function dieIn(prototype, methods) {
  for (const method of methods) {
    const original = prototype[method];
    prototype[method] = function dying(...args) {
      dieAtLast();
      return Reflect.apply(original, this, args);
    };
  }
}

const sample = new Database(":memory:");
dieIn(Object.getPrototypeOf(sample.prepare("SELECT 1")), ["run", "get", "all", "iterate"]);
dieIn(Database.prototype, ["exec", "pragma"]);
sample.close();

let asked = 0;
/** Reports what will happen to work, does it, and reports that it was done. */
async function change(changes, work) {
  const number = (asked += 1);
  tell({ ask: number, changes });
  const result = await work();
  tell({ ack: number });
  return result;
}

const store = createSqliteStore({ file, thread: false });
await store.open({ logger: silentLogger });
await store.recover(T);

const pair = (lease, to) => ({ id: idOf.get(lease.seq), handler: lease.handler, ...to });
const idOf = new Map();
const leases = new Map();

function accept(name, { leased = [], waiting = [], parked } = {}) {
  const id = `${life}_${name}`;
  const work = [
    ...leased.map((handler) => ({ handler, leaseUntil: T + DAY })),
    ...waiting.map((handler) => ({ handler })),
  ];
  const changes = [
    ...leased.map((handler) => ({ id, handler, state: "leased", started: 1, finished: 0 })),
    ...waiting.map((handler) => ({ id, handler, state: "pending", started: 0, finished: 0 })),
    ...(parked === undefined ? [] : [{ id, handler: "", state: "parked", started: 0, finished: 0 }]),
    { id },
  ];
  const event = {
    id,
    type: "email.sent",
    receivedAt: T,
    signedAt: T,
    test: false,
    body: Buffer.from(id),
    work,
    parked,
  };
  return change(changes, () => store.accept(event)).then(({ seq, leases: given }) => {
    idOf.set(seq, id);
    for (const lease of given) leases.set(`${name} ${lease.handler}`, lease);
  });
}

function settle(lease, to, more) {
  const state = to === "done" ? { state: "done", started: 1 } : { state: to, started: 1, finished: 1 };
  const settlement = { ...lease, at: T, dropSteps: false, to, ...more };
  return change([pair(lease, state)], () => store.settle(settlement));
}

const of = (name) => leases.get(name);
const DEAD = { reason: "do_not_retry", error: "no" };

await Promise.all([
  accept("1", { leased: ["h", "i"] }),
  accept("2", { leased: ["h", "i"] }),
  accept("3", { leased: ["h", "i"] }),
  accept("4"),
  accept("5", { parked: { reason: "unknown_type", detail: "?" } }),
  accept("6", { waiting: ["h"] }),
  accept("7", { leased: ["c"] }),
  accept("8", { leased: ["h", "c"] }),
]);
await Promise.all([
  settle(of("1 h"), "done"),
  settle(of("1 i"), "done"),
  settle(of("2 h"), "done"),
  settle(of("3 h"), "pending", { dueAt: T + 50, error: "no" }),
]);
await change([{ ...pair(of("2 i")), step: true }], () => store.saveStep(of("2 i"), "first", "1", T));
for (const name of ["7 c", "8 c"]) {
  await change([pair(of(name), { state: "done", started: 1 })], () =>
    store.commit({ ...of(name), at: T, dropSteps: false, to: "done" }, ({ db }) => {
      db.prepare("INSERT INTO effect (id, handler) VALUES (?, ?)").run(idOf.get(of(name).seq), of(name).handler);
    }),
  );
}
await store.renew([of("3 i")], T + 2 * DAY);
await settle(of("2 i"), "done", { dropSteps: true });
await Promise.all(["9", "10", "11", "12"].map((name) => accept(name, { leased: ["h"] })));
await Promise.all([
  settle(of("9 h"), "done"),
  settle(of("10 h"), "dead", DEAD),
  change([pair(of("11 h"), { state: "pending", started: 0, finished: 0 })], () => store.release([of("11 h")], T)),
  settle(of("12 h"), "done"),
]);
const request = {
  handler: "h",
  now: T,
  leaseUntil: T + DAY,
  limit: 2,
  maxBytes: 1e6,
  crashedLimit: 2,
  allowCrashLooping: true,
};
await change([{ lease: "h" }], async () => {
  const { work } = await store.lease(request);
  for (const { eventId: id, handler, attempt: started, failures: finished } of work) {
    tell({ seen: { id, handler, state: "leased", started, finished } });
  }
});
await Promise.all([accept("13", { leased: ["h", "i"] }), accept("14", { leased: ["i"] })]);
await settle(of("13 i"), "done");
await store.prune({ now: T + 9 * DAY, idsBefore: 0, bodiesBefore: 0, sentBefore: 0, batch: 10 });
await store.openOperator(() => T).overview();
tell({ statements });
process.kill(process.pid, "SIGKILL");
