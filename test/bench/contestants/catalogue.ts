import type { Scheme } from "../load/signing.js";
import type { StartContestant } from "./contestant.js";

/** One row of the HTTP table. */
export interface Contestant {
  name: string;
  /** What it does, for the reader of the table. */
  title: string;
  scheme: Scheme;
  start: StartContestant;
}

export const BARE_HTTP = "http";
export const EXPRESS_FLOOR = "express";
export const HTTP_NO_STORE = "http-no-store";
export const MIDDLEWARE = "pigeonhole-route";
export const LISTENER = "pigeonhole-front";
export const PROTOTYPES = "pigeonhole-prototypes";
export const NAIVE = "naive-sqlite";

/** All contestants in the order of the table. Modules are loaded in the server process only, so one that is missing hurts no other. */
export const CONTESTANTS: readonly Contestant[] = [
  {
    name: BARE_HTTP,
    title: "bare node:http: reads the body, 200",
    scheme: "svc",
    start: async () => (await import("./bare-http.js")).startBareHttp(),
  },
  {
    name: EXPRESS_FLOOR,
    title: "bare Express 5: raw-body, 200 (the Express floor)",
    scheme: "svc",
    start: async () => (await import("./express-floor.js")).startExpressFloor(),
  },
  {
    name: HTTP_NO_STORE,
    title: "node:http + verifySignature + JSON.parse, no store",
    scheme: "svc",
    start: async () => (await import("./verify-only.js")).startHttpVerifyAndParse(),
  },
  {
    name: "express-verify",
    title: "Express + verifySignature, no store",
    scheme: "svc",
    start: async () => (await import("./verify-only.js")).startExpressVerify(),
  },
  {
    name: MIDDLEWARE,
    title: "pigeonhole as Express route, durable",
    scheme: "svc",
    start: async (context) => (await import("./pigeonhole.js")).startRoute(context),
  },
  {
    name: LISTENER,
    title: "pigeonhole in front of Express, durable",
    scheme: "svc",
    start: async (context) => (await import("./pigeonhole.js")).startFront(context),
  },
  {
    name: PROTOTYPES,
    title: "pigeonhole route, prototypes at construction",
    scheme: "svc",
    start: async (context) => (await import("./pigeonhole.js")).startPrototypes(context),
  },
  {
    name: NAIVE,
    title: "Express + better-sqlite3, a transaction each",
    scheme: "svc",
    start: async (context) => (await import("./naive-sqlite.js")).startNaiveSqlite(context),
  },
  {
    name: "stripe",
    title: "Express + stripe constructEvent, no store",
    scheme: "stripe",
    start: async () => (await import("./peers.js")).startStripe(),
  },
  {
    name: "svix",
    title: "Express + svix@1 verify, no store",
    scheme: "svix",
    start: async () => (await import("./peers.js")).startSvix(),
  },
  {
    name: "octokit",
    title: "Express + @octokit/webhooks middleware, no store",
    scheme: "octokit",
    start: async () => (await import("./peers.js")).startOctokit(),
  },
];

export function findContestant(name: string): Contestant {
  const found = CONTESTANTS.find((contestant) => contestant.name === name);
  if (!found) {
    throw new Error(`no contestant ${name}; there are ${CONTESTANTS.map(({ name }) => name).join(", ")}`);
  }
  return found;
}
