import { createDatabase, fillPostgres } from "../process/fill-stores.js";
import { formatNumber, printLine, printTitle } from "../table.js";
import type { MeasureContext } from "./context.js";
import { printStores, rateOf, runStores, storeRatio, withPostgres } from "./store-runs.js";

/** The goal is for so many; with fewer the ratio is printed and not judged. */
const JUDGED_ROWS = 5_000_000;

/** The store with many stored ids, against an empty one. */
export function measurePostgresIds(context: MeasureContext): Promise<void> {
  const { facts, options, runtime } = context;
  const { rows } = options;
  return withPostgres(context, async (server) => {
    printTitle(`PostgreSQL, Node ${runtime.version}: empty against ${rows} stored events`);
    const url = await createDatabase(server.url, "grown");
    await fillPostgres(url, { rows, work: "done" });
    const [empty, grown] = await runStores(context, server, [
      { name: "empty", title: "empty", plans: [{ way: "store", url: server.url, file: "" }] },
      { name: "grown", title: `${rows} stored events`, plans: [{ way: "store", url, file: "" }] },
    ]);
    printStores([empty, grown].filter((run) => run !== undefined));
    const ratio = storeRatio(grown, empty, rateOf);
    printLine(`grown / empty: ${formatNumber(ratio, 2)}`);
    if (rows >= JUDGED_ROWS) facts.set("postgres ids rate", ratio);
    else printLine(`judged with ${JUDGED_ROWS} rows: --long`);
  });
}
