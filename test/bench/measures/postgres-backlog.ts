import { createDatabase, fillPostgres } from "../process/fill-stores.js";
import { median } from "../stats.js";
import { printLine, printTitle } from "../table.js";
import { JUDGED_ROWS, MEGABYTE, printReports, runBacklog, type BacklogReport } from "./backlog.js";
import type { MeasureContext } from "./context.js";
import { withPostgres } from "./store-runs.js";

const ROUNDS = 3;

/** Start-up on PostgreSQL with many pending events: time to the first handler and memory. */
export function measurePostgresBacklog(context: MeasureContext): Promise<void> {
  const { facts, options, runtime } = context;
  const { rows } = options;
  return withPostgres(context, async (server) => {
    printTitle(`PostgreSQL, Node ${runtime.version}: start with ${rows} pending events of 4 KB`);
    const url = await createDatabase(server.url, "backlog");
    await fillPostgres(url, { rows, work: "pending" });
    const reports: BacklogReport[] = [];
    for (let round = 0; round < Math.min(ROUNDS, options.rounds); round += 1) {
      reports.push(await runBacklog(url, runtime));
    }
    printReports([[`${rows} pending`, reports]]);
    if (rows < JUDGED_ROWS) {
      printLine(`judged with ${JUDGED_ROWS} rows`);
      return;
    }
    facts.set("postgres backlog ms", median(reports.map(({ firstMs }) => firstMs ?? Number.NaN)));
    facts.set("postgres backlog MB", median(reports.map(({ peakBytes }) => peakBytes)) / MEGABYTE);
  });
}
