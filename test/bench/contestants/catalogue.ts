import type { Contestant } from "./contestant.js";
import { MIXED_HANDLERS } from "./mixed-load.js";

/** Options of the prototype, but for its front. */
const PROTOTYPE = { store: "worker", ckpt: 4000, process: true, done: "pend" };

/**
 * All contestants in the order of the table at saturation. Modules are loaded in the server process only, so one that
 * is missing hurts no other.
 */
export const CONTESTANTS: readonly Contestant[] = [
  {
    name: "http",
    title: "bare node:http: reads the body, 200",
    scheme: "svc",
    run: { start: async () => (await import("./floors.js")).startBareHttp() },
  },
  {
    name: "express",
    title: "bare Express 5: reads the body, 200",
    scheme: "svc",
    run: { start: async () => (await import("./floors.js")).startBareExpress() },
  },
  {
    name: "no-store",
    title: "node:http + verifySignature + JSON.parse, stores nothing",
    scheme: "svc",
    run: { start: async () => (await import("./floors.js")).startNoStore() },
  },
  {
    name: "prototype-no-store",
    title: "prototype in front, stores nothing",
    scheme: "svc",
    run: { prototype: { front: "node", store: "none" } },
  },
  {
    name: "prototype-accept",
    title: "prototype in front, no handler",
    scheme: "svc",
    run: { prototype: { ...PROTOTYPE, front: "node", process: false } },
  },
  {
    name: "prototype",
    title: "prototype in front",
    scheme: "svc",
    run: { prototype: { ...PROTOTYPE, front: "node" } },
  },
  {
    name: "prototype-2",
    title: "prototype in front, two cores",
    scheme: "svc",
    twoCores: true,
    run: { prototype: { ...PROTOTYPE, front: "node" } },
  },
  {
    name: "prototype-route",
    title: "prototype as Express route",
    scheme: "svc",
    run: { prototype: { ...PROTOTYPE, front: "express" } },
  },
  {
    name: "front-accept",
    title: "pigeonhole in front, no handler",
    scheme: "svc",
    handlersPerEvent: 0,
    run: { start: async (context) => (await import("./pigeonhole.js")).startAcceptOnly(context) },
  },
  {
    name: "front",
    title: "pigeonhole in front",
    scheme: "svc",
    run: { start: async (context) => (await import("./pigeonhole.js")).startFront(context) },
  },
  {
    name: "front-2",
    title: "pigeonhole in front, two cores",
    scheme: "svc",
    twoCores: true,
    run: { start: async (context) => (await import("./pigeonhole.js")).startFront(context) },
  },
  {
    name: "route",
    title: "pigeonhole as Express route",
    scheme: "svc",
    run: { start: async (context) => (await import("./pigeonhole.js")).startRoute(context) },
  },
  {
    name: "front-mixed",
    title: "pigeonhole in front: 3 handlers, 5 types, 1 % failures",
    scheme: "svc",
    mixed: true,
    handlersPerEvent: MIXED_HANDLERS.length,
    run: { start: async (context) => (await import("./pigeonhole.js")).startMixed(context) },
  },
  {
    name: "stripe",
    title: "stripe constructEvent on Express, stores nothing",
    scheme: "stripe",
    run: { start: async () => (await import("./verifiers.js")).startStripe() },
  },
  {
    name: "svix",
    title: "svix verify on Express, stores nothing",
    scheme: "svix",
    run: { start: async () => (await import("./verifiers.js")).startSvix() },
  },
  {
    name: "octokit",
    title: "@octokit/webhooks on Express, stores nothing",
    scheme: "octokit",
    run: { start: async () => (await import("./verifiers.js")).startOctokit() },
  },
  {
    name: "one-transaction",
    title: "stripe + better-sqlite3, one transaction each",
    scheme: "stripe",
    run: { start: async (context) => (await import("./verifiers.js")).startOneTransaction(context) },
  },
];

/** What one would put a delivery into instead, at `--only peers`; all of them only enqueue. */
export const QUEUES: readonly Contestant[] = [
  {
    name: "bullmq",
    title: "stripe + BullMQ, Redis with appendfsync always",
    scheme: "stripe",
    run: { start: async () => (await import("./queues.js")).startBullmq() },
  },
  {
    name: "pg-insert",
    title: "stripe + a PostgreSQL INSERT each",
    scheme: "stripe",
    run: { start: async () => (await import("./queues.js")).startInsert() },
  },
  {
    name: "pg-grouped",
    title: "stripe + PostgreSQL INSERTs, grouped",
    scheme: "stripe",
    run: { start: async () => (await import("./queues.js")).startGroupedInsert() },
  },
  {
    name: "pg-boss",
    title: "stripe + pg-boss send",
    scheme: "stripe",
    run: { start: async () => (await import("./queues.js")).startPgBoss() },
  },
  {
    name: "graphile-worker",
    title: "stripe + graphile-worker addJob",
    scheme: "stripe",
    run: { start: async () => (await import("./queues.js")).startGraphileWorker() },
  },
];

/** Needs a server of PostgreSQL. */
const ON_POSTGRES: Contestant = {
  name: "front-postgres-2",
  title: "pigeonhole in front, on PostgreSQL, two cores",
  scheme: "svc",
  twoCores: true,
  run: { start: async (context) => (await import("./pigeonhole.js")).startFrontPostgres(context) },
};

/** Measured beside `front` at `--only dashboard`. */
const WITH_DASHBOARD: Contestant = {
  name: "front-dashboard",
  title: "pigeonhole in front, with its dashboard open",
  scheme: "svc",
  run: { start: async (context) => (await import("./pigeonhole.js")).startWithDashboard(context) },
};

/** What an app pays for as many requests for something else, at `--only dashboard`. */
const WITH_PAGE: Contestant = {
  name: "front-page",
  title: "pigeonhole in front, with a page of the app read as often",
  scheme: "svc",
  run: { start: async (context) => (await import("./pigeonhole.js")).startWithPage(context) },
};

export function findContestant(name: string): Contestant {
  const all = [...CONTESTANTS, ...QUEUES, ON_POSTGRES, WITH_DASHBOARD, WITH_PAGE];
  const found = all.find((contestant) => contestant.name === name);
  if (!found) throw new Error(`no contestant ${name}; there are ${all.map(({ name }) => name).join(", ")}`);
  return found;
}
