import { execFile } from "node:child_process";
import { copyFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { promisify } from "node:util";
import { findContestant } from "../contestants/catalogue.js";
import { startChild } from "../process/child.js";
import { fillSqlite } from "../process/fill-stores.js";
import { LOAD_CORE } from "../process/pinning.js";
import { ownRuntime } from "../process/runtime.js";
import type { ViewerCalls } from "../process/viewer-process.js";
import { printTitle } from "../table.js";
import { type Beside, type Entry, runAlternated } from "./alternate.js";
import type { MeasureContext } from "./context.js";
import { medianOf, printRuns } from "./report-runs.js";

const CALM_RATE = 200;
const BUSY_RATE = 2_400;
const READERS = 50;
const BIN = resolve(import.meta.dirname, "../../../dist/cli/bin.js");
/** What an operator runs, one after the other, each in a process of its own, with the file as its last argument. */
const COMMANDS = [
  "inbox list --error timeout --db",
  "inbox errors --db",
  "inbox stats --db",
  "inbox list --limit 1000 --db",
  "inbox retry --state dead --db",
  "captures export last --from-inbox",
  "inbox erase --email ann@example.com --yes --db",
];

/** Answers beside many stored events, beside people at the dashboard, and beside an operator's commands (P8). */
export async function measureBeside(context: MeasureContext): Promise<void> {
  const { facts, options, runtime, scratch } = context;
  const { rows } = options;
  const alone = scratch.file("alone.db");
  fillSqlite(alone, { rows, work: "done" });
  const copyAs = (name: string): string => {
    const copy = scratch.file(`${name}.db`);
    copyFileSync(alone, copy);
    return copy;
  };
  const [read, commands, control, other] = [copyAs("read"), copyAs("commands"), copyAs("control"), copyAs("other")];
  const front = findContestant("front");
  const dashboard = findContestant("front-dashboard");
  const viewer = startChild<ViewerCalls>({
    file: "process/viewer-process.ts",
    runtime: ownRuntime(),
    cores: LOAD_CORE,
  });
  const readers: Beside = (port) => {
    const begun = viewer.call("watchDashboard", { port, readers: READERS });
    return { end: () => begun.then(() => viewer.call("unwatch", undefined)) };
  };
  try {
    printTitle(
      `${rows} stored events, Node ${runtime.version}: ${CALM_RATE} requests per second, and ${READERS} readers`,
    );
    const calm = await runAlternated(context, {
      entries: [
        { contestant: front, databaseFile: alone },
        { contestant: dashboard, databaseFile: read, beside: readers },
      ],
      rate: CALM_RATE,
    });
    printRuns(calm);
    for (const run of calm)
      facts.set(
        `calm p99 ${run.contestant.name}`,
        medianOf(run, ({ p99 }) => p99),
      );
  } finally {
    await viewer.end();
  }
  printTitle(`The same at ${BUSY_RATE} requests per second, and an operator's commands one after the other`);
  const besideCommands = (databaseFile: string, file: string, title: string): Entry => ({
    contestant: { ...front, title },
    databaseFile,
    beside: () => runCommands(file),
  });
  const busy = await runAlternated(context, {
    entries: [
      { contestant: front, databaseFile: alone },
      besideCommands(commands, commands, "the same beside commands"),
      // What the cores alone make of it.
      besideCommands(control, other, "the same beside these commands on another file"),
    ],
    rate: BUSY_RATE,
  });
  printRuns(busy);
  const [without, beside, besideOther] = busy.map((run) => medianOf(run, ({ p99 }) => p99));
  facts.set("commands p99", (beside ?? Number.NaN) / (without ?? Number.NaN));
  facts.set("commands on the file p99", (beside ?? Number.NaN) / (besideOther ?? Number.NaN));
}

function runCommands(file: string): { end(): Promise<void> } {
  const ending = new AbortController();
  const run = async (): Promise<void> => {
    for (let turn = 0; !ending.signal.aborted; turn += 1) {
      const command = COMMANDS[turn % COMMANDS.length] ?? "inbox stats --db";
      // Not here, where captures may be that it would erase from.
      await promisify(execFile)(process.execPath, [BIN, ...command.split(" "), file], { cwd: dirname(file) });
    }
  };
  const all = run();
  return {
    end: () => {
      ending.abort();
      return all;
    },
  };
}
