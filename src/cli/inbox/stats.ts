import { isoTime } from "../../base/iso-time.js";
import { describeRunTime } from "../../base/run-time-bounds.js";
import { escapeControls } from "../../base/text.js";
import { processFigures, runningRows, storeFigures } from "../../operator/figures-now.js";
import type { EventState } from "../../store/state-words.js";
import type { HandlerTimes } from "../../store/handler-times.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import { isAlive } from "../../store/process-state.js";
import type { RunCommand } from "../frame/context.js";
import { wait } from "../frame/interruption.js";
import { age, clip, formatTable } from "../frame/format.js";
import type { Paint } from "../frame/output.js";
import { withInbox } from "../values/find-inbox.js";
import type { inboxStats } from "./spec.js";

/** Counting takes long where much waits: a tenth of the time at most. */
const SHARE = 9;
/** So much running work is shown at most. */
const MAX_RUNNING = 10;
const MAX_NAME = 28;
/** Puts the cursor into the first line, and empties what is below. */
const TOP_OF_SCREEN = "\u001b[H\u001b[J";

/** Counts once, or again and again until Ctrl-C. */
export const stats: RunCommand<typeof inboxStats> = ({ options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { out, signal, stdout } = context;
    const { since, until, watch } = options;
    if (watch !== undefined) context.expectInterruption();
    for (;;) {
      const begun = performance.now();
      const figures = await readFigures(inbox, { since, until });
      const text = describe(figures, out.paint);
      if (watch !== undefined && out.isTerminal) stdout.write(TOP_OF_SCREEN);
      out.result(figures, text);
      if (watch === undefined) return;
      const pause = Math.max(watch, SHARE * (performance.now() - begun));
      await wait(pause, signal).catch(() => undefined);
      if (signal.aborted) return;
    }
  });

type StatsFigures = Awaited<ReturnType<typeof readFigures>>;

async function readFigures(inbox: InboxOperator, times: { since: number; until: number | undefined }) {
  const [overview, handlerTimes, handlers, statuses, newest] = await Promise.all([
    inbox.overview(),
    inbox.handlerTimes(times),
    inbox.listHandlers(),
    inbox.readStatuses(),
    inbox.listEvents({ limit: 1 }),
  ]);
  const now = Date.now();
  return {
    ...processFigures(statuses, newest, now),
    processes: statuses.filter((status) => isAlive(status, now)).length,
    runs: runningRows(statuses, now).slice(0, MAX_RUNNING),
    store: storeFigures(overview, now),
    paused: handlers.flatMap(({ handler, paused }) => (paused === null ? [] : [{ handler, ...paused }])),
    repairs: overview.repairs,
    handlerTimes,
    since: isoTime(times.since),
    until: isoTime(times.until),
  };
}

function describe(figures: StatsFigures, paint: Paint): string {
  const { since, until, store, paused, handlerTimes } = figures;
  const { pending, retrying, running, done, dead, parked, oldestPendingAgeMs, outbox } = store;
  const levels = (counts: Partial<Record<EventState, number>>): string[] =>
    Object.entries(counts).map(([state, count]) => {
      const isBad = count > 0 && (state === "dead" || state === "parked");
      return `  ${state.padEnd(8)} ${isBad ? paint.red(String(count)) : count}`;
    });
  const oldest = (ms: number): string => (ms === 0 ? "" : `, the oldest of ${age(ms)} ago`);
  const waiting = Object.entries(store.pendingByHandler).map(
    ([name, count]) => `    ${escapeControls(name)}  ${count}`,
  );
  const pauses = paused.map(
    ({ handler, by, since: at }) => `  ${escapeControls(handler)}  by ${escapeControls(by)} since ${at}`,
  );
  return [
    `receiver  ${describeReceiver(figures, paint)}`,
    ...describeRunning(figures, paint),
    `work of events${oldest(oldestPendingAgeMs)}`,
    ...levels({ pending }),
    ...waiting,
    ...levels({ retrying, running, done, dead, parked }),
    ...(pauses.length === 0 ? [] : [paint.yellow("paused handlers"), ...pauses]),
    `contact events${oldest(outbox.oldestAgeMs)}`,
    ...levels({ pending: outbox.pending, running: outbox.running, retrying: outbox.retrying, dead: outbox.dead }),
    ...describeRepairs(figures, paint),
    `handlers since ${since}${until === null ? "" : ` until ${until}`}`,
    ...describeHandlerTimes(handlerTimes, paint),
  ].join("\n");
}

function describeReceiver({ state, processes, endpoint }: StatsFigures, paint: Paint): string {
  if (processes === 0) return paint.yellow("none has reported in the last 2 minutes");
  const { failuresInARow: count, disablesAt, silentForMs } = endpoint;
  const said = state === "running" ? paint.green(state) : paint.yellow(clip(state, MAX_NAME));
  const failures = `${count} of ${disablesAt} failures in a row`;
  const last = silentForMs === null ? "" : `, last accepted ${age(silentForMs)} ago`;
  const number = `${processes} ${processes === 1 ? "process" : "processes"}`;
  return `${said}, ${number}, ${count === 0 ? failures : paint.red(failures)}${last}`;
}

/** A line for each endpoint whose delivery log is compared with the inbox. */
function describeRepairs({ repairs }: StatsFigures, paint: Paint): string[] {
  return repairs.map(({ endpointId, at, missing, stillMissing, refused }) => {
    const counts = `${missing} missing, ${missing - stillMissing} brought in at ${at}`;
    return `repair    ${escapeControls(endpointId)}: ${refused === null ? counts : paint.red(`${counts} (${escapeControls(refused)})`)}`;
  });
}

/** The longest-running first. */
function describeRunning({ running, runs }: StatsFigures, paint: Paint): string[] {
  if (runs.length === 0) return [];
  const rows = runs.map(({ handler, eventId, forMs, host, pid }) => [
    age(forMs),
    clip(handler, MAX_NAME),
    escapeControls(eventId),
    `${clip(host, MAX_NAME)}:${pid}`,
  ]);
  const table = indented(formatTable(["FOR", "RUNS NOW", "EVENT", "PROCESS"], rows, paint.dim));
  const more = running - rows.length;
  return [...table, ...(more <= 0 ? [] : [paint.dim(`  and ${more} more`)])];
}

/** Lines with one handler each. */
function describeHandlerTimes(times: readonly HandlerTimes[], paint: Paint): string[] {
  if (times.length === 0) return ["  none"];
  const rows = times.map(({ handler, runs, failed, medianMs, p95Ms }) => [
    escapeControls(handler),
    String(runs),
    failed === 0 ? "0" : paint.red(`${failed} (${share(failed, runs)})`),
    describeRunTime(medianMs),
    describeRunTime(p95Ms),
  ]);
  return indented(formatTable(["HANDLER", "RUNS", "FAILED", "MEDIAN", "P95"], rows, paint.dim));
}

const indented = (table: string): string[] => table.split("\n").map((line) => `  ${line}`);

/** Never 0 % or 100 % of some. */
function share(part: number, whole: number): string {
  const percent = (100 * part) / whole;
  return percent < 1 ? "< 1 %" : `${Math.floor(percent)} %`;
}
