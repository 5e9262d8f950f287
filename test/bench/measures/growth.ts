import { findContestant } from "../contestants/catalogue.js";
import { fillSqlite } from "../process/fill-stores.js";
import { formatNumber, printLine, printTitle } from "../table.js";
import { runAlternated } from "./alternate.js";
import type { MeasureContext } from "./context.js";
import { printRuns, rateRatio } from "./report-runs.js";

/** The goal is for so many; with fewer the ratio is printed and not judged. */
const JUDGED_ROWS = 5_000_000;

/**
 * The accept rate with many stored ids against that of an empty database (P9). Their bodies are small: only the ids
 * matter here.
 */
export async function measureGrowth(context: MeasureContext): Promise<void> {
  const { facts, options, runtime, scratch } = context;
  const { rows } = options;
  printTitle(`Growth, Node ${runtime.version}: pigeonhole in front, empty database against ${rows} stored events`);
  const databaseFile = scratch.file("grown.db");
  fillSqlite(databaseFile, { rows, work: "done" });
  const front = findContestant("front");
  const [empty, grown] = await runAlternated(context, {
    entries: [
      { contestant: { ...front, title: "empty database" } },
      { contestant: { ...front, title: `${rows} stored events` }, databaseFile },
    ],
  });
  printRuns([empty, grown].filter((run) => run !== undefined));
  const ratio = rateRatio(grown, empty);
  printLine(`grown / empty: ${formatNumber(ratio, 2)}`);
  if (rows >= JUDGED_ROWS) facts.set("growth", ratio);
  else printLine(`P9 is judged with ${JUDGED_ROWS} rows: --long`);
}
