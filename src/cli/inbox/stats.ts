import { isoTime } from "../../base/iso-time.js";
import { describeRunTime } from "../../base/run-time-bounds.js";
import { escapeControls } from "../../base/text.js";
import { LIMITS } from "../../protocol/limits.js";
import { failuresInARow } from "../../store/failures-in-a-row.js";
import type { HandlerTimes } from "../../store/handler-times.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import { lastAccepted } from "../../store/last-accepted.js";
import { isAlive, worstState } from "../../store/process-state.js";
import type { RunCommand } from "../frame/context.js";
import { waitUnlessEnded } from "../frame/interruption.js";
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
      out.result(recordOf(figures), text);
      if (watch === undefined) return;
      const pause = Math.max(watch, SHARE * (performance.now() - begun));
      if (!(await waitUnlessEnded(pause, signal))) return;
    }
  });

type StatsFigures = Awaited<ReturnType<typeof readFigures>>;

async function readFigures(inbox: InboxOperator, times: { since: number; until: number | undefined }) {
  const [{ events, contactEvents, repairs }, handlerTimes, handlers, statuses, newest] = await Promise.all([
    inbox.overview(),
    inbox.handlerTimes(times),
    inbox.listHandlers(),
    inbox.readStatuses(),
    inbox.listEvents({ limit: 1 }),
  ]);
  const now = Date.now();
  const alive = statuses.filter((status) => isAlive(status, now));
  const running = alive.flatMap(({ host, pid, running: runs }) => runs.map((each) => ({ ...each, host, pid })));
  return {
    ...times,
    now,
    receiver: alive.length === 0 ? null : worstState(alive),
    processes: alive.length,
    failuresInARow: failuresInARow(statuses),
    lastAcceptedAt: lastAccepted(statuses, newest),
    running: running.toSorted((one, other) => one.since - other.since).slice(0, MAX_RUNNING),
    runningCount: alive.reduce((sum, { runningCount }) => sum + runningCount, 0),
    events,
    contactEvents,
    repairs,
    handlerTimes,
    paused: handlers.flatMap(({ handler, paused }) => (paused === null ? [] : [{ handler, ...paused }])),
  };
}

function recordOf(figures: StatsFigures): Record<string, unknown> {
  const { receiver, processes, running, runningCount, events, contactEvents, handlerTimes, paused, repairs } = figures;
  const { oldestPendingReceivedAt, oldestRunningReceivedAt: _, oldestDueAt, newestReceivedAt: __, ...counts } = events;
  const { oldestRecordedAt, ...sends } = contactEvents;
  return {
    receiver,
    processes,
    failuresInARow: figures.failuresInARow,
    lastAcceptedAt: isoTime(figures.lastAcceptedAt),
    runningCount,
    running: running.map((each) => ({ ...each, since: isoTime(each.since) })),
    events: counts,
    paused,
    oldestPendingReceivedAt: isoTime(oldestPendingReceivedAt),
    oldestDueAt: isoTime(oldestDueAt),
    contactEvents: { ...sends, oldestRecordedAt: isoTime(oldestRecordedAt) },
    repairs: repairs.map(({ at, ...round }) => ({ ...round, at: isoTime(at) })),
    handlerTimes,
  };
}

function describe(figures: StatsFigures, paint: Paint): string {
  const { now, since, until, events, contactEvents, paused, handlerTimes } = figures;
  const alarmed = (count: number): string => (count === 0 ? "0" : paint.red(String(count)));
  const oldest = (at: number | undefined, what: string): string =>
    at === undefined ? "" : `, the oldest ${what} ${age(now - at)} ago`;
  const waiting = Object.entries(events.pendingByHandler).map(
    ([name, count]) => `    ${escapeControls(name)}  ${count}`,
  );
  const pauses = paused.map(
    ({ handler, by, since: at }) => `  ${escapeControls(handler)}  by ${escapeControls(by)} since ${at}`,
  );
  return [
    `receiver  ${describeReceiver(figures, paint)}`,
    ...describeRunning(figures, paint),
    "work of events",
    `  pending  ${events.pending}${oldest(events.oldestPendingReceivedAt, "received")}`,
    ...waiting,
    `  retrying ${events.retrying}`,
    `  running  ${events.running}`,
    `  done     ${events.done}`,
    `  dead     ${alarmed(events.dead)}`,
    `  parked   ${alarmed(events.parked)}`,
    ...(pauses.length === 0 ? [] : [paint.yellow("paused handlers"), ...pauses]),
    "contact events",
    `  pending  ${contactEvents.pending}${oldest(contactEvents.oldestRecordedAt, "recorded")}`,
    `  running  ${contactEvents.running}`,
    `  retrying ${contactEvents.retrying}`,
    `  dead     ${alarmed(contactEvents.dead)}`,
    ...describeRepairs(figures, paint),
    `handlers since ${isoTime(since)}${until === undefined ? "" : ` until ${isoTime(until)}`}`,
    ...describeHandlerTimes(handlerTimes, paint),
  ].join("\n");
}

function describeReceiver(
  { now, receiver, processes, failuresInARow: count, lastAcceptedAt }: StatsFigures,
  paint: Paint,
) {
  if (receiver === null) return paint.yellow("none has reported in the last 2 minutes");
  const state = receiver === "running" ? paint.green(receiver) : paint.yellow(clip(receiver, MAX_NAME));
  const failures = `${count} of ${LIMITS.disableAfterFailures} failures in a row`;
  const last = lastAcceptedAt === undefined ? "" : `, last accepted ${age(now - lastAcceptedAt)} ago`;

  return `${state}, ${processes} ${processes === 1 ? "process" : "processes"}, ${count === 0 ? failures : paint.red(failures)}${last}`;
}

/** A line for each endpoint whose delivery log is compared with the inbox. */
function describeRepairs({ now, repairs }: StatsFigures, paint: Paint): string[] {
  return repairs.map(({ endpointId, at, missing, stillMissing, refused }) => {
    const counts = `${missing} missing, ${missing - stillMissing} brought in ${age(now - at)} ago`;
    return `repair    ${escapeControls(endpointId)}: ${refused === null ? counts : paint.red(`${counts} (${escapeControls(refused)})`)}`;
  });
}

/** The longest-running first. */
function describeRunning({ now, running, runningCount }: StatsFigures, paint: Paint): string[] {
  if (running.length === 0) return [];
  const rows = running.map(({ handler, eventId, since, host, pid }) => [
    age(now - since),
    clip(handler, MAX_NAME),
    escapeControls(eventId),
    `${clip(host, MAX_NAME)}:${pid}`,
  ]);
  const table = formatTable(["FOR", "RUNS NOW", "EVENT", "PROCESS"], rows, paint.dim).split("\n");
  const more = runningCount - rows.length;
  return [...table.map((line) => `  ${line}`), ...(more <= 0 ? [] : [paint.dim(`  and ${more} more`)])];
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
  const table = formatTable(["HANDLER", "RUNS", "FAILED", "MEDIAN", "P95"], rows, paint.dim);
  return table.split("\n").map((line) => `  ${line}`);
}

/** Never 0 % or 100 % of some. */
function share(part: number, whole: number): string {
  const percent = (100 * part) / whole;
  return percent < 1 ? "< 1 %" : `${Math.floor(percent)} %`;
}
