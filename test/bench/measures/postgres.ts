import { Pool } from "pg";
import { findContestant } from "../contestants/catalogue.js";
import { startChild, type Child } from "../process/child.js";
import { readFamilyCpuMicros } from "../process/cpu-time.js";
import { BOTH_CORES } from "../process/pinning.js";
import {
  POSTGRES_WAYS,
  type PostgresCalls,
  type PostgresInterval,
  type PostgresWay,
} from "../process/postgres-process.js";
import { startPostgres } from "../process/queue-servers.js";
import { median, medianRatio } from "../stats.js";
import { formatNumber, formatTable, printLine, printProgress, printTitle } from "../table.js";
import { runAlternated } from "./alternate.js";
import type { MeasureContext } from "./context.js";
import { printRuns, recordRatios } from "./report-runs.js";

const TITLES: Record<PostgresWay, string> = {
  "insert-50": "an INSERT each, pool of 50",
  "insert-10": "an INSERT each, pool of 10",
  store: "our store: accepted, leased, settled",
  commit: "our store: ctx.commit with a row of the user",
  sqlite: "our store on SQLite",
};

/** Microseconds and rates of one interval. */
interface Figures {
  rate: number;
  ours: number;
  server: number;
}

type Runs = Record<PostgresWay, Figures[]>;

/** The store on PostgreSQL beside what one would write by hand, and beside SQLite. CPU of the server counts. */
export async function measurePostgres(context: MeasureContext): Promise<void> {
  const { facts, options, runtime } = context;
  const server = await startPostgres(options.directory);
  try {
    await prepare(server.url);
    printTitle(
      `PostgreSQL, Node ${runtime.version}: ${options.connections} callers, ${options.rounds} rounds of ${options.seconds} s`,
    );
    const runs = await measureStores(context, server);
    printFigures(runs);
    recordFigures(context, runs);
    printTitle(`Receivers, Node ${runtime.version}: ${options.rounds} rounds of ${options.seconds} s`);
    const env = { BENCH_POSTGRES_URL: server.url };
    const receivers = await runAlternated(context, {
      entries: ["front-2", "front-postgres-2"].map((name) => ({ contestant: findContestant(name), env })),
    });
    printRuns(receivers);
    recordRatios(facts, receivers);
  } finally {
    await server.end();
  }
}

async function prepare(url: string): Promise<void> {
  const pool = new Pool({ connectionString: url, max: 1 });
  const columns = "seq bigserial PRIMARY KEY, id text NOT NULL UNIQUE, type text NOT NULL, body bytea NOT NULL";
  await pool.query(`CREATE TABLE inbox_each (${columns})`);
  await pool.query("CREATE TABLE effects (id text NOT NULL)");
  await pool.end();
}

/** All processes live through the run, and take turns. */
async function measureStores(context: MeasureContext, server: { url: string; pid: number }): Promise<Runs> {
  const { options, runtime, scratch } = context;
  const children = new Map<PostgresWay, Child<PostgresCalls>>();
  const runs: Runs = { "insert-50": [], "insert-10": [], store: [], commit: [], sqlite: [] };
  const plan = { seconds: options.seconds, callers: options.connections };
  try {
    for (const way of POSTGRES_WAYS) {
      const child = startChild<PostgresCalls>({ file: "process/postgres-process.ts", runtime, cores: BOTH_CORES });
      children.set(way, child);
      await child.call("open", { way, url: server.url, file: scratch.file("beside-postgres.db") });
      await child.call("run", { ...plan, seconds: 1 });
    }
    for (let round = 0; round < options.rounds; round += 1) {
      for (const way of round % 2 === 0 ? POSTGRES_WAYS : POSTGRES_WAYS.toReversed()) {
        const child = children.get(way);
        if (child === undefined) continue;
        const before = readFamilyCpuMicros(server.pid);
        const interval = await child.call("run", plan);
        runs[way].push(figuresOf(interval, readFamilyCpuMicros(server.pid) - before));
      }
      printProgress(`PostgreSQL, round ${round + 1} of ${options.rounds}`);
    }
  } finally {
    for (const child of children.values()) {
      await child.call("close", undefined).catch(() => undefined);
      await child.end();
    }
  }
  return runs;
}

function figuresOf({ events, seconds, cpuMicros }: PostgresInterval, serverMicros: number): Figures {
  return { rate: events / seconds, ours: cpuMicros / events, server: serverMicros / events };
}

const rateOf = ({ rate }: Figures): number => rate;
const cpuOf = ({ ours, server }: Figures): number => ours + server;

function printFigures(runs: Runs): void {
  const rows = POSTGRES_WAYS.map((way) => {
    const figure = (select: (figures: Figures) => number): string => formatNumber(median(runs[way].map(select)), 0);
    const ratio = (select: (figures: Figures) => number): string =>
      formatNumber(medianRatio(runs[way].map(select), runs["insert-50"].map(select)), 2);
    return [
      TITLES[way],
      figure(rateOf),
      ratio(rateOf),
      figure(({ ours }) => ours),
      figure(({ server }) => server),
      figure(cpuOf),
      ratio(cpuOf),
    ];
  });
  printLine(
    formatTable(["", "events/s", "x pool of 50", "µs of ours", "µs of the server", "µs CPU", "x pool of 50"], rows),
  );
}

function recordFigures({ facts }: MeasureContext, runs: Runs): void {
  for (const way of POSTGRES_WAYS) {
    for (const base of POSTGRES_WAYS) {
      facts.set(`postgres rate ${way}/${base}`, medianRatio(runs[way].map(rateOf), runs[base].map(rateOf)));
      facts.set(`postgres cpu ${way}/${base}`, medianRatio(runs[way].map(cpuOf), runs[base].map(cpuOf)));
    }
  }
}
