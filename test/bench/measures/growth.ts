import { LISTENER, findContestant } from "../contestants/catalogue.js";
import { medianRatio } from "../stats.js";
import { printLine, printTitle } from "../table.js";
import { runAlternated } from "./alternate.js";
import type { MeasureContext } from "./context.js";
import { fillDatabase } from "./fill-database.js";
import { printRuns, valuesOf } from "./report-runs.js";

/** The accept rate with many stored ids against that of an empty database (P9). */
export async function measureGrowth(context: MeasureContext): Promise<void> {
  const { facts, options, scratch } = context;
  printTitle(`Growth: pigeonhole in front, empty database against ${options.rows} stored events`);
  const grownFile = scratch.file("grown.db");
  await fillDatabase({ file: grownFile, rows: options.rows, work: "done", bodyBytes: 0 });
  const front = findContestant(LISTENER);
  const runs = await runAlternated({
    ...context,
    ...options,
    entries: [
      { contestant: { ...front, title: "empty database" } },
      { contestant: { ...front, title: `${options.rows} stored events` }, databaseFile: grownFile },
    ],
  });
  printRuns(runs);
  const [empty, grown] = runs;
  const ratio = medianRatio(
    valuesOf(grown, ({ requestsPerSecond }) => requestsPerSecond),
    valuesOf(empty, ({ requestsPerSecond }) => requestsPerSecond),
  );
  printLine(`grown / empty: ${ratio.toFixed(2)}`);
  facts.set("growth", ratio);
}
