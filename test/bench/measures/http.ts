import { CONTESTANTS, findContestant } from "../contestants/catalogue.js";
import { formatNumber, printLine, printTitle } from "../table.js";
import { runAlternated } from "./alternate.js";
import type { MeasureContext } from "./context.js";
import { cpuDifference, medianOf, printRuns, recordRatios } from "./report-runs.js";

/** The table of all contestants at saturation (P1 to P4, P8, and what a handler adds). */
export async function measureHttp(context: MeasureContext): Promise<void> {
  const { facts, options, runtime } = context;
  const { connections, rounds, seconds } = options;
  const contestants = options.contestants?.map(findContestant) ?? CONTESTANTS;
  printTitle(
    `HTTP at saturation, Node ${runtime.version}: 4 KB bodies, ${connections} connections, ${rounds} rounds of ${seconds} s`,
  );
  const runs = await runAlternated(context, { entries: contestants.map((contestant) => ({ contestant })) });
  printRuns(runs);
  recordRatios(facts, runs);
  const front = runs.find(({ contestant }) => contestant.name === "front");
  facts.set(
    "front p99",
    medianOf(front, ({ p99 }) => p99),
  );
  facts.set("handler µs", cpuDifference(runs, "front", "front-accept"));
  const ofPrototype = cpuDifference(runs, "prototype", "prototype-accept");
  if (Number.isFinite(ofPrototype)) {
    printLine(`running and settling a handler costs the prototype ${formatNumber(ofPrototype, 1)} µs`);
  }
}
