import { setTimeout as sleep } from "node:timers/promises";
import { startChild, type Child } from "../process/child.js";
import { SERVER_CORE } from "../process/pinning.js";
import { buildSlowDisk } from "../process/slow-disk.js";
import type { LatencyCalls, Way } from "../process/latency-process.js";
import type { RecordingCalls, RecordingTimes } from "../process/recording-process.js";
import { median, medianRatio } from "../stats.js";
import { formatNumber, formatTable, printLine, printProgress, printTitle } from "../table.js";
import type { MeasureContext } from "./context.js";
import { fillDatabase } from "./fill-database.js";

/** Length of a window under load: some checkpoints of the database fall into each. */
const WINDOW_SECONDS = 1;
/** Requests per second for which the load generator has some ready. */
const MAX_PER_SECOND = 12_000;
/** Events in a window of the backlog, and pairs of windows per round. */
const BACKLOG_WINDOW = 5_000;
const PAIRS = 3;
const DRAIN_LIMIT_MS = 60_000;
const POLL_MS = 5;
/** Deliveries of each kind in a round of the latency measure. */
const LATENCY_COUNT = 150;

/**
 * What `ctx.contactEvents.record` adds to an event's way. The goal is the CPU time of all threads over the whole way,
 * delivery to done mark; the way without the request and the time that a handler alone in the process takes are printed
 * beside it. One process does both in turn, so that neither the machine's drift nor how the process was compiled tells
 * them apart.
 */
export async function measureRecording(context: MeasureContext): Promise<void> {
  const { facts, options } = context;
  printTitle(
    `Recording a contact event in the handler, Node ${context.runtime.version}, ${options.rounds} alternated rounds`,
  );
  const whole = await measureDeliveries(context);
  const backlog = await measureBacklog(context);
  const rows = [
    formatTimes("delivery → 200 → handler → done mark", whole),
    formatTimes("stored event → handler → done mark", backlog),
  ];
  printLine(formatTable(["", "µs CPU each", "recording", "more", "with / without"], rows));
  printLine("medians over the rounds; with / without: median of the ratios of neighbours");
  const slowDisk = buildSlowDisk(context.scratch);
  const here = await measureLatency(context, {});
  const latencyRows = [
    formatTimes("one handler at a time → durably done", here.return),
    formatTimes("the same, ended by ctx.commit", here.commit),
  ];
  if (slowDisk.ok) {
    const slow = await measureLatency(context, slowDisk.environment(1));
    latencyRows.push(
      formatTimes("1 ms added to every fsync: → durably done", slow.return),
      formatTimes("1 ms added to every fsync: ctx.commit", slow.commit),
    );
    facts.set("recording fsync1", medianRatio(slow.return.recording, slow.return.plain));
    facts.set("recording fsync1 commit", medianRatio(slow.commit.recording, slow.commit.plain));
  }
  printLine("");
  printLine(formatTable(["", "µs", "recording", "more", "with / without"], latencyRows));
  printLine("time on the clock, one event in the process, the wait for the disk included");
  facts.set("recording", medianRatio(whole.recording, whole.plain));
}

function formatTimes(title: string, { plain, recording }: RecordingTimes): string[] {
  const more = recording.map((micros, round) => micros - (plain[round] ?? Number.NaN));
  const figures = [median(plain), median(recording), median(more)].map((micros) => formatNumber(micros, 1));
  return [title, ...figures, formatNumber(medianRatio(recording, plain), 2)];
}

type RecordingChild = Child<RecordingCalls>;

/** A fresh process for each of the two. */
async function withChild<T>(
  { options, runtime }: MeasureContext,
  use: (child: RecordingChild) => Promise<T>,
): Promise<T> {
  const child = startChild<RecordingCalls>({
    file: "process/recording-process.ts",
    runtime,
    cores: SERVER_CORE,
    nodeFlags: options.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${options.profile}`],
  });
  try {
    return await use(child);
  } finally {
    await child.end();
  }
}

/** The whole way over HTTP, under load; every other window records. */
function measureDeliveries(context: MeasureContext): Promise<RecordingTimes> {
  return withChild(context, async (child) => {
    const { options, scratch } = context;
    const { port } = await child.call("listen", { file: scratch.file("recording.db") });
    const times: RecordingTimes = { plain: [], recording: [] };
    // The first round warms up.
    for (let round = 0; round <= options.rounds; round += 1) {
      const { plain, recording } = await runUnderLoad(context, child, port);
      if (round === 0) continue;
      times.plain.push(...plain);
      times.recording.push(...recording);
      printProgress(
        `round ${round} of ${options.rounds}: ${median(plain).toFixed(1)} µs, recording ${median(recording).toFixed(1)} µs`,
      );
    }
    await child.call("stop", undefined);
    return times;
  });
}

/** CPU per delivery in the windows of one load. */
async function runUnderLoad(
  { load, options }: MeasureContext,
  child: RecordingChild,
  port: number,
): Promise<RecordingTimes> {
  const pairs = Math.max(1, Math.round(options.seconds / WINDOW_SECONDS));
  // A window more at either end, where the load sets in and runs out.
  const seconds = (2 * pairs + 2) * WINDOW_SECONDS;
  const poolSize = Math.ceil(seconds * MAX_PER_SECOND);
  const times: RecordingTimes = { plain: [], recording: [] };
  await load.call("prepare", {
    port,
    scheme: "svc",
    mixed: false,
    connections: options.connections,
    seconds,
    poolSize,
  });
  const start = await child.call("turn", { on: false });
  const run = load.call("run", undefined);
  await sleep(WINDOW_SECONDS * 1000);
  for (let window = 0; window < 2 * pairs; window += 1) {
    // plain, recording, recording, plain, …
    const on = window % 4 === 1 || window % 4 === 2;
    const before = await child.call("turn", { on });
    await sleep(WINDOW_SECONDS * 1000);
    const after = await child.call("look", undefined);
    times[on ? "recording" : "plain"].push((after.cpu - before.cpu) / (after.handled - before.handled));
  }
  const { accepted, errors } = await run;
  const wanted = start.handled + accepted;
  const deadline = performance.now() + DRAIN_LIMIT_MS;
  let { handled } = await child.call("look", undefined);
  while (handled < wanted && performance.now() < deadline) {
    await sleep(POLL_MS);
    ({ handled } = await child.call("look", undefined));
  }
  if (handled !== wanted || Object.keys(errors).length > 0) {
    throw new Error(`handled ${handled} of ${wanted}; errors: ${JSON.stringify(errors)}`);
  }
  return times;
}

/** Without the request: handlers work off what is stored already. */
function measureBacklog(context: MeasureContext): Promise<RecordingTimes> {
  return withChild(context, async (child) => {
    const { options, scratch } = context;
    const windows = 2 * (PAIRS * options.rounds + 1);
    const file = scratch.file("recording-backlog.db");
    // More than is looked at, so that the last window is not its end.
    const rows = (windows + 1) * BACKLOG_WINDOW;
    await fillDatabase(context, { file, rows, work: "pending", withBodies: true });
    const times = await child.call("drain", { file, windows, windowSize: BACKLOG_WINDOW });
    // The first pair warms up.
    return { plain: times.plain.slice(1), recording: times.recording.slice(1) };
  });
}

/** One delivery after the other, each alone: the time from the call of its handler until its end is on disk. */
async function measureLatency(
  { options, runtime, scratch }: MeasureContext,
  env: Record<string, string>,
): Promise<Record<Way, RecordingTimes>> {
  const file = "process/latency-process.ts";
  const child = startChild<LatencyCalls>({ file, runtime, cores: SERVER_CORE, env });
  const times: Record<Way, RecordingTimes> = {
    return: { plain: [], recording: [] },
    commit: { plain: [], recording: [] },
  };
  try {
    await child.call("open", { file: scratch.file("latency.db") });
    for (let round = 0; round < options.rounds; round += 1) {
      for (const way of ["return", "commit"] as const) {
        const { plain, recording } = await child.call("measure", { way, count: LATENCY_COUNT });
        times[way].plain.push(plain);
        times[way].recording.push(recording);
      }
      printProgress(`round ${round + 1} of ${options.rounds}, one handler at a time`);
    }
    await child.call("stop", undefined);
  } finally {
    await child.end();
  }
  return times;
}
