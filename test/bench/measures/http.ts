import {
  BARE_HTTP,
  CONTESTANTS,
  EXPRESS_FLOOR,
  HTTP_NO_STORE,
  LISTENER,
  MIDDLEWARE,
  NAIVE,
  PROTOTYPES,
  findContestant,
} from "../contestants/catalogue.js";
import type { Facts } from "../goals.js";
import { printTitle } from "../table.js";
import type { MeasureContext } from "./context.js";
import { runAlternated } from "./alternate.js";
import { medianOf, printRuns, rateRatio } from "./report-runs.js";
import type { ServerRun } from "./server-run.js";

/** The table of all contestants at saturation (P1 to P4, P8). */
export async function measureHttp(context: MeasureContext): Promise<void> {
  const { options } = context;
  const contestants = options.contestants?.map(findContestant) ?? CONTESTANTS;
  printTitle(
    `HTTP, 4 KB bodies, ${options.connections} connections, closed loop, ${options.rounds} rounds of ${options.seconds} s`,
  );
  const runs = await runAlternated({
    ...context,
    ...options,
    entries: contestants.map((contestant) => ({ contestant })),
  });
  printRuns(runs);
  recordFacts(context, runs);
}

function recordFacts(
  { facts, options }: { facts: Facts; options: MeasureContext["options"] },
  runs: ServerRun[],
): void {
  const cores = options.twoCores ? "2cores" : "1core";
  const crowd = options.connections >= 200 ? "200 " : "";
  for (const base of [EXPRESS_FLOOR, BARE_HTTP, HTTP_NO_STORE]) {
    facts.set(`${cores} ${options.twoCores ? crowd : ""}front/${base}`, rateRatio(runs, LISTENER, base));
  }
  facts.set("route/express", rateRatio(runs, MIDDLEWARE, EXPRESS_FLOOR));
  facts.set("prototypes/express", rateRatio(runs, PROTOTYPES, EXPRESS_FLOOR));
  facts.set("front/naive", rateRatio(runs, LISTENER, NAIVE));
  const front = runs.find(({ contestant }) => contestant.name === LISTENER);
  facts.set(
    "front p99",
    medianOf(front, ({ p99 }) => p99),
  );
}
