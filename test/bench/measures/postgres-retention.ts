import { type Child, startChild } from "../process/child.js";
import { createDatabase, fillPostgres } from "../process/fill-postgres.js";
import { BOTH_CORES } from "../process/pinning.js";
import type { PostgresCalls } from "../process/postgres-process.js";
import { median } from "../stats.js";
import { formatNumber, printLine, printProgress, printTitle } from "../table.js";
import type { MeasureContext } from "./context.js";
import { printStores, rateOf, runStores, storeRatio, withPostgres } from "./store-runs.js";

const PER_SECOND = 1_000;
/** Older than any that the load stores. */
const LONG_AGO = 1_000;

/** What it costs the load when as many old events are removed every second as a busy receiver stores. */
export function measurePostgresRetention(context: MeasureContext): Promise<void> {
  const { facts, options, runtime } = context;
  return withPostgres(context, async (server) => {
    printTitle(`PostgreSQL, Node ${runtime.version}: ${PER_SECOND} old events a second are removed, bodies and ids`);
    const url = await createDatabase(server.url, "pruned");
    const rows = (options.rounds * options.seconds + 3) * PER_SECOND;
    printProgress(`storing ${rows} events`);
    await fillPostgres(url, { rows, work: "done", hasBodies: true, receivedAt: LONG_AGO });
    const pruner = startChild<PostgresCalls>({ file: "process/postgres-process.ts", runtime, cores: BOTH_CORES });
    try {
      await pruner.call("open", { way: "store", url, file: "" });
      const removed: number[] = [];
      const [alone, pruned] = await runStores(context, server, [
        { name: "alone", title: "nothing is removed", plans: [{ way: "store", url, file: "" }] },
        {
          name: "pruned",
          title: `${PER_SECOND} a second are removed`,
          plans: [{ way: "store", url, file: "" }],
          beside: async (seconds) => removed.push(await prune(pruner, seconds)),
        },
      ]);
      printStores([alone, pruned].filter((run) => run !== undefined));
      printLine(`removed: ${formatNumber(median(removed), 0)} a second`);
      facts.set("postgres retention rate", storeRatio(pruned, alone, rateOf));
      facts.set("postgres retention removed", median(removed));
    } finally {
      await pruner.end();
    }
  });
}

/** Returns how many events a second were removed. */
async function prune(pruner: Child<PostgresCalls>, seconds: number): Promise<number> {
  const removed = await pruner.call("prune", { seconds, perSecond: PER_SECOND, before: 2 * LONG_AGO });
  return removed / seconds;
}
