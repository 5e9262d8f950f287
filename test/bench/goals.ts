import type { Measure } from "./options.js";

/** Figures by key, as the measures record them and the goals look them up. */
export type Facts = Map<string, number>;

export type Relation = ">=" | "<=";

/** The figure `fact` has to be in that `relation` to `bound`; it is printed with so many `digits`. */
export type Goal = readonly [id: string, text: string, fact: string, relation: Relation, bound: number, digits: number];

/**
 * The goals by the measure that finds their figures, on Node 22 and newer. `rate a/b` and `cpu a/b` are ratios of
 * contestants within one alternated run.
 */
export const GOALS: Partial<Record<Measure, readonly Goal[]>> = {
  http: [
    ["P1", "front, one core: CPU / prototype's", "cpu front/prototype", "<=", 1.4, 2],
    ["P1", "front, one core: CPU / stripe's", "cpu front/stripe", "<=", 1.15, 2],
    ["P1", "front, one core: rate / prototype without a store", "rate front/prototype-no-store", ">=", 0.5, 2],
    ["P1", "front, one core: rate / svix", "rate front/svix", ">=", 1.05, 2],
    ["P2", "front, two cores: rate / stripe (one core)", "rate front-2/stripe", ">=", 1.05, 2],
    ["P3", "Express route, one core: rate / stripe", "rate route/stripe", ">=", 0.7, 2],
    ["P3", "Express route, one core: rate / svix", "rate route/svix", ">=", 0.95, 2],
    ["P4", "front, one core: rate / one transaction each", "rate front/one-transaction", ">=", 3.6, 1],
    ["P8", "front, saturated: p99 ms", "front p99", "<=", 30, 1],
    ["handler", "running and settling a handler: µs CPU", "handler µs", "<=", 12, 1],
  ],
  peers: [
    ["P6", "front, two cores: rate / BullMQ, AOF always", "rate front-2/bullmq", ">=", 2, 2],
    ["P6", "front, two cores: rate / PostgreSQL INSERT each", "rate front-2/pg-insert", ">=", 2, 2],
    ["P6", "front, two cores: rate / PostgreSQL, grouped", "rate front-2/pg-grouped", ">=", 1.25, 2],
    ["P6", "front, two cores: rate / pg-boss", "rate front-2/pg-boss", ">=", 5.5, 1],
    ["P6", "front, two cores: rate / graphile-worker", "rate front-2/graphile-worker", ">=", 8, 1],
  ],
  batches: [
    ["batches", "a row for each event, 1,000/s: CPU of handling, batches / each", "batches handling", "<=", 0.5, 2],
  ],
  moderate: [["P8", "front, 2,400 requests/s: p99 ms", "moderate p99", "<=", 15, 1]],
  beside: [
    ["P8", "1,000,000 stored events, 200 requests/s: p99 ms", "calm p99 front", "<=", 10, 1],
    ["P8", "the same with 50 readers of the dashboard: p99 ms", "calm p99 front-dashboard", "<=", 40, 1],
    ["P8", "2,400 requests/s beside an operator's commands: p99 / without", "commands p99", "<=", 1.3, 2],
    ["P8", "the same / beside these commands on another file", "commands on the file p99", "<=", 1.3, 2],
  ],
  growth: [["P9", "front, 5,000,000 stored ids: rate / empty", "growth", ">=", 0.75, 2]],
  backlog: [
    ["P10", "1,000,000 pending: first handler after an empty start's, ms", "backlog ms", "<=", 100, 0],
    ["P10", "1,000,000 pending: memory above an empty start's, MB", "backlog MB", "<=", 60, 0],
  ],
  dashboard: [
    ["P17", "front, dashboard open: rate / front", "dashboard rate front-dashboard/front", ">=", 0.97, 2],
    ["P17", "an open dashboard without deliveries: ms of CPU a second", "dashboard refresh ms", "<=", 15, 1],
  ],
  postgres: [
    ["P14", "store on PostgreSQL: CPU / INSERT each, pool of 50", "postgres cpu store/insert-50", "<=", 0.7, 2],
    ["P14", "store on PostgreSQL: rate / INSERT each, pool of 50", "postgres rate store/insert-50", ">=", 0.9, 2],
    ["P14", "store on PostgreSQL: rate / INSERT each, pool of 10", "postgres rate store/insert-10", ">=", 1.4, 2],
    ["P14", "store on PostgreSQL: rate / store on SQLite", "postgres rate store/sqlite", ">=", 0.5, 2],
    ["P14", "store on PostgreSQL: rate / graphile-worker", "postgres rate store/graphile-worker", ">=", 1.3, 2],
    ["P14", "store on PostgreSQL: CPU / graphile-worker", "postgres cpu store/graphile-worker", "<=", 0.7, 2],
    ["P14", "store on PostgreSQL: rate / pg-boss", "postgres rate store/pg-boss", ">=", 1.3, 2],
    ["P14", "store on PostgreSQL: CPU / pg-boss", "postgres cpu store/pg-boss", "<=", 0.7, 2],
    ["P14", "ctx.commit with one row: rate / INSERT each, pool of 50", "postgres rate commit/insert-50", ">=", 0.3, 2],
    ["P15", "front on PostgreSQL: rate / front on SQLite", "rate front-postgres-2/front-2", ">=", 0.6, 2],
  ],
  "postgres-network": [
    ["P16", "2 ms added to every round trip: rate / none", "postgres network rate", ">=", 0.6, 2],
    ["P16", "2 ms added to every round trip: round trips added to p50", "postgres network trips", "<=", 3, 1],
  ],
  "postgres-nodes": [
    ["P16", "three processes: the server's CPU / one process", "postgres nodes server", "<=", 1.25, 2],
  ],
  "postgres-ids": [["P16", "5,000,000 stored ids: rate / empty", "postgres ids rate", ">=", 0.75, 2]],
  "postgres-steady": [
    ["P14", "1,000 events a second: size of the tables, last minute / fourth", "postgres steady size", "<=", 1.2, 2],
    ["P14", "1,000 events a second: p99, last minute / fourth", "postgres steady p99", "<=", 1.5, 2],
  ],
  "postgres-backlog": [
    ["P16", "1,000,000 pending: first handler, ms", "postgres backlog ms", "<=", 1_000, 0],
    ["P16", "1,000,000 pending: memory of the process, MB", "postgres backlog MB", "<=", 150, 0],
  ],
  heap: [["heap", "front, one handler: kB allocated per delivery", "heap kB", "<=", 24, 1]],
};

/** On Node 20 this alone: Express is slow there, so that ratios to what runs on it say something else. */
export const NODE_20_GOALS: Partial<Record<Measure, readonly Goal[]>> = {
  http: [["Node 20", "front, one core: rate / bare Express", "rate front/express", ">=", 1.1, 2]],
};
