import { tmpdir } from "node:os";
import { parseArgs } from "node:util";

export const MEASURES = ["http", "verify", "growth", "backlog", "settle", "outbox", "moderate", "fsync"] as const;
export type Measure = (typeof MEASURES)[number];

/** What a run measures and how long. */
export interface BenchOptions {
  /** @default http and verify */
  only: readonly Measure[];
  /** Names of the contestants of the HTTP table; undefined means all. */
  contestants: readonly string[] | undefined;
  /** Alternated rounds; the order is reversed in every other one. @default 5 */
  rounds: number;
  /** Length of one interval in seconds. @default 3 */
  seconds: number;
  /** Keep-alive connections. @default 50 */
  connections: number;
  /** Stored or pending rows for growth, backlog and settle. @default 1,000,000 */
  rows: number;
  /** Lets the server use both cores (P2); the load generator stays on core 1. */
  twoCores: boolean;
  /** Where CPU profiles of the servers are written, one per thread; undefined means none. They cost some speed. */
  profile: string | undefined;
  /** Where databases are written. @default the system's temporary directory */
  directory: string;
}

export const USAGE = `npm run bench -- [options]
  --only LIST         of ${MEASURES.join(", ")}; default http,verify
  --contestants LIST  names as in the first column of the HTTP table; default all
  --rounds N          alternated rounds, default 5
  --seconds N         length of one interval, default 3
  --connections N     keep-alive connections, default 50
  --rows N            rows for growth, backlog and settle, default 1000000
  --two-cores         the server may use both cores
  --directory PATH    where databases are written
  --profile PATH      writes CPU profiles of the servers, one per thread, to this directory
  --quick             2 rounds of 1 s, 100000 rows`;

function readCount(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} ${text}: give a number above 0`);
  return value;
}

function readList(text: string | undefined): string[] | undefined {
  return text?.split(",").map((part) => part.trim());
}

function readMeasures(text: string | undefined): readonly Measure[] {
  const names = readList(text) ?? ["http", "verify"];
  const unknown = names.filter((name) => !MEASURES.some((measure) => measure === name));
  if (unknown.length > 0) throw new Error(`--only ${unknown.join(",")}: choose from ${MEASURES.join(", ")}`);
  return MEASURES.filter((measure) => names.includes(measure));
}

/** Reads the command line; undefined when help was asked for. */
export function readOptions(args: readonly string[]): BenchOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string" },
      contestants: { type: "string" },
      rounds: { type: "string" },
      seconds: { type: "string" },
      connections: { type: "string" },
      rows: { type: "string" },
      directory: { type: "string" },
      profile: { type: "string" },
      "two-cores": { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return undefined;
  return {
    only: readMeasures(values.only),
    contestants: readList(values.contestants),
    rounds: readCount("rounds", values.rounds, values.quick ? 2 : 5),
    seconds: readCount("seconds", values.seconds, values.quick ? 1 : 3),
    connections: readCount("connections", values.connections, 50),
    rows: readCount("rows", values.rows, values.quick ? 100_000 : 1_000_000),
    profile: values.profile,
    twoCores: values["two-cores"],
    directory: values.directory ?? tmpdir(),
  };
}
