import { QUEUES, findContestant } from "../contestants/catalogue.js";
import { installPackages } from "../process/install-packages.js";
import { startPostgres, startRedis, type QueueServer } from "../process/queue-servers.js";
import { printLine, printTitle } from "../table.js";
import { runAlternated } from "./alternate.js";
import type { MeasureContext } from "./context.js";
import { printRuns, recordRatios } from "./report-runs.js";

/** Fixed, so that runs can be compared. */
const PACKAGES = { bullmq: "6.7.0", ioredis: "5.8.2", pg: "8.23.1", "pg-boss": "10.4.2", "graphile-worker": "0.17.3" };

/** Against what one would enqueue deliveries into (P6). Those only enqueue, and their servers may use both cores. */
export async function measurePeers(context: MeasureContext): Promise<void> {
  const { facts, options, runtime } = context;
  printTitle(`Queues that only enqueue, Node ${runtime.version}: ${options.rounds} rounds of ${options.seconds} s`);
  const servers: QueueServer[] = [];
  try {
    const packages = installPackages({ folder: `peers-node-${runtime.major}`, packages: PACKAGES, node: runtime.node });
    const env: Record<string, string> = { BENCH_PEER_PACKAGES: packages };
    await tryServer("BullMQ", async () => {
      const redis = await startRedis(options.directory);
      servers.push(redis);
      env["BENCH_REDIS_PORT"] = String(redis.port);
    });
    await tryServer("PostgreSQL", async () => {
      const postgres = await startPostgres(options.directory);
      servers.push(postgres);
      env["BENCH_POSTGRES_URL"] = postgres.url;
    });
    const ours = ["front-2", "prototype-2"].map(findContestant);
    const runs = await runAlternated(context, {
      entries: [...ours, ...QUEUES].map((contestant) => ({ contestant, env })),
    });
    printRuns(runs);
    recordRatios(facts, runs);
  } finally {
    for (const server of servers) await server.end();
  }
}

/** A server that is not installed hurts no other. */
async function tryServer(name: string, start: () => Promise<void>): Promise<void> {
  try {
    await start();
  } catch (error) {
    printLine(`no server for ${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
