import { Pool } from "pg";
import { findContestant } from "../contestants/catalogue.js";
import { installPackages } from "../process/install-packages.js";
import { POSTGRES_WAYS, type PostgresWay } from "../process/postgres-process.js";
import { JOB_PACKAGES } from "../process/postgres-queues.js";
import { printTitle } from "../table.js";
import { runAlternated } from "./alternate.js";
import type { MeasureContext } from "./context.js";
import { printRuns, recordRatios } from "./report-runs.js";
import { type StoreRun, cpuOf, printStores, rateOf, runStores, storeRatio, withPostgres } from "./store-runs.js";

const TITLES: Record<PostgresWay, string> = {
  "insert-50": "an INSERT each, pool of 50",
  "insert-10": "an INSERT each, pool of 10",
  store: "our store: accepted, leased, settled",
  commit: "our store: ctx.commit with a row of the user",
  sqlite: "our store on SQLite",
  "graphile-worker": "graphile-worker with the same rows",
  "pg-boss": "pg-boss with the same rows",
};

/** The store on PostgreSQL beside what one would write by hand, and beside SQLite. CPU of the server counts. */
export function measurePostgres(context: MeasureContext): Promise<void> {
  const { facts, options, runtime, scratch } = context;
  return withPostgres(context, async (server) => {
    await prepare(server.url);
    printTitle(
      `PostgreSQL, Node ${runtime.version}: ${options.connections} callers, ${options.rounds} rounds of ${options.seconds} s`,
    );
    const file = scratch.file("beside-postgres.db");
    const folder = `postgres-jobs-node-${runtime.major}`;
    const packages = installPackages({ folder, packages: JOB_PACKAGES, node: runtime.node });
    const entries = POSTGRES_WAYS.map((way) => ({
      name: way,
      title: TITLES[way],
      plans: [{ way, url: server.url, file, packages }],
    }));
    const runs = await runStores(context, server, entries);
    printStores(runs);
    recordFigures(context, runs);
    printTitle(`Receivers, Node ${runtime.version}: ${options.rounds} rounds of ${options.seconds} s`);
    const env = { BENCH_POSTGRES_URL: server.url };
    const receivers = await runAlternated(context, {
      entries: ["front-2", "front-postgres-2"].map((name) => ({ contestant: findContestant(name), env })),
    });
    printRuns(receivers);
    recordRatios(facts, receivers);
  });
}

async function prepare(url: string): Promise<void> {
  const pool = new Pool({ connectionString: url, max: 1 });
  const columns = "seq bigserial PRIMARY KEY, id text NOT NULL UNIQUE, type text NOT NULL, body bytea NOT NULL";
  await pool.query(`CREATE TABLE inbox_each (${columns})`);
  await pool.query("CREATE TABLE effects (id text NOT NULL)");
  await pool.end();
}

function recordFigures({ facts }: MeasureContext, runs: readonly StoreRun[]): void {
  for (const run of runs) {
    for (const base of runs) {
      const names = `${run.entry.name}/${base.entry.name}`;
      facts.set(`postgres rate ${names}`, storeRatio(run, base, rateOf));
      facts.set(`postgres cpu ${names}`, storeRatio(run, base, cpuOf));
    }
  }
}
