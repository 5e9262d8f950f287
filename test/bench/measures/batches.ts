import { findContestant } from "../contestants/catalogue.js";
import { formatNumber, printLine, printTitle } from "../table.js";
import { runAlternated } from "./alternate.js";
import type { MeasureContext } from "./context.js";
import { cpuDifference, printRuns } from "./report-runs.js";

const RATE = 1_000;

/** What a row of the user's own costs with each event, and in batches, at a rate that does not saturate a core. */
export async function measureBatches(context: MeasureContext): Promise<void> {
  const { facts, runtime } = context;
  printTitle(`A row for each event, Node ${runtime.version}: ${RATE} events per second at even distances`);
  const names = ["front-accept", "front-commit", "front-batch"];
  const entries = names.map((name) => ({ contestant: findContestant(name) }));
  const runs = await runAlternated(context, { entries, rate: RATE });
  printRuns(runs);
  const single = cpuDifference(runs, "front-commit", "front-accept");
  const batch = cpuDifference(runs, "front-batch", "front-accept");
  printLine(
    `CPU of handling an event: ${formatNumber(single, 0)} µs each, ${formatNumber(batch, 0)} µs in batches; the rest is of its delivery`,
  );
  facts.set("batches handling", batch / single);
}
