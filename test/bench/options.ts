import { tmpdir } from "node:os";
import { parseArgs } from "node:util";

export const MEASURES = [
  "http",
  "peers",
  "batches",
  "moderate",
  "beside",
  "heap",
  "growth",
  "backlog",
  "dashboard",
  "postgres",
  "postgres-network",
  "postgres-nodes",
  "postgres-ids",
  "postgres-backlog",
  "postgres-steady",
] as const;
export type Measure = (typeof MEASURES)[number];

const DEFAULT_MEASURES: readonly Measure[] = ["http", "heap"];

/** What a run measures and how long. */
export interface BenchOptions {
  only: readonly Measure[];
  /** Names of contestants; undefined means all of a measure. */
  contestants: readonly string[] | undefined;
  /** Alternated rounds; the order is reversed in every other one. @default 5 */
  rounds: number;
  /** Length of one interval in seconds. @default 3 */
  seconds: number;
  /** Keep-alive connections. @default 50 */
  connections: number;
  /** Stored or pending rows for growth and backlog. @default 1,000,000 */
  rows: number;
  /** Length of postgres-steady. @default 60 */
  minutes: number;
  /** A short run that shows whether everything works; its figures say little. */
  quick: boolean;
  /** The Node of everything that is measured. @default the one that runs the benchmark */
  node: string | undefined;
  /** Folder of the prototype, which is left out without one. @default BENCH_PERF_LAB of the environment */
  perfLab: string | undefined;
  /** Where CPU profiles of the servers are written, one per thread; undefined means none. They cost some speed. */
  profile: string | undefined;
  /** Where databases are written. @default the system's temporary directory */
  directory: string;
}

const LONG_ROWS = 5_000_000;
const ROWS = 1_000_000;
const QUICK_ROWS = 100_000;

export const USAGE = `npm run bench -- [options]
  --only LIST         of ${MEASURES.join(", ")}, or all; default ${DEFAULT_MEASURES.join(",")}
  --contestants LIST  names as in the first column of the HTTP table; default all
  --node PATH         a Node binary for everything that is measured; default the one that runs this
  --rounds N          alternated rounds, default 5
  --seconds N         length of one interval, default 3
  --connections N     keep-alive connections, default 50
  --rows N            rows for growth, backlog, beside, postgres-ids and postgres-backlog, default ${ROWS}
  --minutes N         length of postgres-steady, default 60
  --long              growth and postgres-ids with ${LONG_ROWS} stored ids (P9, P16); takes a quarter of an hour
  --quick             2 rounds of 1 s, ${QUICK_ROWS} rows
  --perf-lab PATH     folder of the prototype, default BENCH_PERF_LAB; without either its rows are left out
  --directory PATH    where databases are written
  --profile PATH      writes CPU profiles of the servers, one per thread, to this directory`;

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
  if (text === "all") return MEASURES;
  const names = readList(text) ?? DEFAULT_MEASURES;
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
      node: { type: "string" },
      rounds: { type: "string" },
      seconds: { type: "string" },
      connections: { type: "string" },
      rows: { type: "string" },
      minutes: { type: "string" },
      "perf-lab": { type: "string" },
      directory: { type: "string" },
      profile: { type: "string" },
      long: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return undefined;
  const { quick } = values;
  return {
    only: readMeasures(values.only),
    contestants: readList(values.contestants),
    rounds: readCount("rounds", values.rounds, quick ? 2 : 5),
    seconds: readCount("seconds", values.seconds, quick ? 1 : 3),
    connections: readCount("connections", values.connections, 50),
    rows: readCount("rows", values.rows, values.long ? LONG_ROWS : quick ? QUICK_ROWS : ROWS),
    minutes: readCount("minutes", values.minutes, quick ? 5 : 60),
    quick,
    node: values.node,
    perfLab: values["perf-lab"] ?? process.env["BENCH_PERF_LAB"],
    profile: values.profile,
    directory: values.directory ?? tmpdir(),
  };
}
