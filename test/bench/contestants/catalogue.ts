import type { Contestant, ContestantContext } from "./contestant.js";
import type * as pigeonhole from "./pigeonhole.js";
import type * as queues from "./queues.js";
import type * as verifiers from "./verifiers.js";

// Modules are loaded in the server process only, so one that is missing hurts no other.
type More = Partial<Contestant>;

const own = (name: string, title: string, start: keyof typeof pigeonhole, more: More = {}): Contestant => {
  const run = { start: async (context: ContestantContext) => (await import("./pigeonhole.js"))[start](context) };
  return { name, title: `pigeonhole ${title}`, scheme: "svc", run, ...more };
};
const verifier = (
  name: string,
  scheme: Contestant["scheme"],
  title: string,
  start: keyof typeof verifiers,
): Contestant => {
  const run = { start: async (context: ContestantContext) => (await import("./verifiers.js"))[start](context) };
  return { name, title, scheme, run };
};
const queue = (name: string, title: string, start: keyof typeof queues): Contestant => {
  const run = { start: async () => (await import("./queues.js"))[start]() };
  return { name, title: `stripe + ${title}`, scheme: "stripe", run };
};
const prototype = (name: string, title: string, options: object, more: More = {}): Contestant => {
  const run = { prototype: { store: "worker", ckpt: 4000, process: true, done: "pend", front: "node", ...options } };
  return { name, title: `prototype in front${title}`, scheme: "svc", run, ...more };
};
const TWO_CORES = { twoCores: true } as const;

/** All contestants in the order of the table at saturation. */
export const CONTESTANTS: readonly Contestant[] = [
  verifier("express", "svc", "bare Express 5: reads the body, 200", "startBareExpress"),
  prototype("prototype-no-store", ", stores nothing", { store: "none" }),
  prototype("prototype-accept", ", no handler", { process: false }),
  prototype("prototype", "", {}),
  prototype("prototype-2", ", two cores", {}, TWO_CORES),
  own("front-accept", "in front, no handler", "startAcceptOnly", { handles: false }),
  own("front", "in front", "startFront"),
  own("front-2", "in front, two cores", "startFront", TWO_CORES),
  own("route", "as Express route", "startRoute"),
  verifier("stripe", "stripe", "stripe constructEvent on Express, stores nothing", "startStripe"),
  verifier("svix", "svix", "svix verify on Express, stores nothing", "startSvix"),
  verifier("one-transaction", "stripe", "stripe + better-sqlite3, one transaction each", "startOneTransaction"),
];

/** What one would put a delivery into instead, at `--only peers`; all of them only enqueue. */
export const QUEUES: readonly Contestant[] = [
  queue("bullmq", "BullMQ, Redis with appendfsync always", "startBullmq"),
  queue("pg-insert", "a PostgreSQL INSERT each", "startInsert"),
  queue("pg-grouped", "PostgreSQL INSERTs, grouped", "startGroupedInsert"),
  queue("pg-boss", "pg-boss send", "startPgBoss"),
  queue("graphile-worker", "graphile-worker addJob", "startGraphileWorker"),
];

/** What measures of their own have beside `front`: own rows, a server of PostgreSQL, an open dashboard. */
const OTHERS: readonly Contestant[] = [
  own("front-commit", "in front, a row by ctx.commit", "startCommit"),
  own("front-batch", "in front, rows in batches of 100", "startBatch"),
  own("front-postgres-2", "in front, on PostgreSQL, two cores", "startFrontPostgres", TWO_CORES),
  own("front-dashboard", "in front, with its dashboard open", "startWithDashboard"),
];

export function findContestant(name: string): Contestant {
  const all = [...CONTESTANTS, ...QUEUES, ...OTHERS];
  const found = all.find((contestant) => contestant.name === name);
  if (!found) throw new Error(`no contestant ${name}; there are ${all.map(({ name }) => name).join(", ")}`);
  return found;
}
