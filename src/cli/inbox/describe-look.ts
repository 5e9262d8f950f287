import { isoTime } from "../../base/iso-time.js";
import { describeRunTime } from "../../base/run-time-bounds.js";
import { escapeControls } from "../../base/text.js";
import { LIMITS } from "../../protocol/limits.js";
import { age, clip, countOf, formatTable } from "../frame/format.js";
import type { Paint } from "../frame/output.js";
import { type Look, type Rates, type RunRates, backlogAgeMs, outboxAgeMs } from "./watch-look.js";

/** Of texts that others wrote, so that none pushes the rest out of the view. */
const WIDTHS = { name: 28, id: 36, message: 200 };
/** Handlers whose rates are shown. */
const MAX_HANDLERS = 8;
const BARS = "▁▂▃▄▅▆▇█";

/** A look as the lines of a view; texts that others wrote are escaped. */
export function describeLook(look: Look, paint: Paint): string[] {
  const { at, database, rates } = look;
  return [
    `${paint.bold(escapeControls(database))}  ${isoTime(at)}`,
    `receiver  ${describeReceiver(look, paint)}`,
    ...describePaused(look, paint),
    `work      ${describeWork(look, paint)}`,
    `outbox    ${describeOutbox(look, paint)}`,
    `answers   ${rates === undefined ? paint.dim("no figures yet") : describeAnswers(rates, paint)}`,
    ...describeHandlers(rates, paint),
    ...describeRunning(look, paint),
    ...describeErrors(look, paint),
  ];
}

/** A look as one line, for output that is no terminal. */
export function lineOfLook(look: Look): string {
  const { at, events, contactEvents, rates, runningCount, paused } = look;
  const { pending, leased, dead, parked } = events;
  const [backlogAge, outboxAge] = [backlogAgeMs(look), outboxAgeMs(look)];
  const { runs, failed } = totalRuns(rates);
  const perStep = rates === undefined ? "" : ` in ${age(rates.stepMs)}`;
  return [
    `${isoTime(at)}  ${look.receiver ?? "no receiver"}`,
    `pending ${pending}, leased ${leased}, dead ${dead}, parked ${parked}${oldest(backlogAge)}`,
    `outbox ${contactEvents.pending + contactEvents.leased}, dead ${contactEvents.dead}${oldest(outboxAge)}`,
    `answers ${rates === undefined ? "unknown" : listAnswers(rates)}${perStep}`,
    `runs ${runs}, failed ${failed}${perStep}`,
    `${runningCount} running`,
    ...(paused.length === 0 ? [] : [`paused ${paused.map(({ handler }) => clip(handler, WIDTHS.name)).join(", ")}`]),
  ].join("  ");
}

const oldest = (ms: number | null): string => (ms === null ? "" : `, oldest ${age(ms)}`);

const alarmed = (count: number, name: string, paint: Paint): string =>
  count === 0 ? `${name} 0` : paint.red(`${name} ${count}`);

function describeReceiver(look: Look, paint: Paint): string {
  const { at, receiver, processes, failuresInARow, lastAcceptedAt } = look;
  if (receiver === undefined) return paint.yellow("none has reported in the last 2 minutes");
  const state = receiver === "running" ? paint.green(receiver) : paint.yellow(clip(receiver, WIDTHS.name));
  const failures = `${failuresInARow} of ${LIMITS.disableAfterFailures} failures in a row`;
  const last = lastAcceptedAt === undefined ? "" : `, last accepted ${age(at - lastAcceptedAt)} ago`;
  const count = `${processes} ${processes === 1 ? "process" : "processes"}`;
  return `${state}, ${count}, ${failuresInARow === 0 ? failures : paint.red(failures)}${last}`;
}

function describePaused({ paused, events }: Look, paint: Paint): string[] {
  return paused.map(({ handler, by, since }) => {
    const waiting = Object.hasOwn(events.pendingByHandler, handler) ? (events.pendingByHandler[handler] ?? 0) : 0;
    return paint.yellow(
      `paused    ${clip(handler, WIDTHS.name)}  by ${clip(by, WIDTHS.name)} since ${isoTime(since)}, ${waiting} pending`,
    );
  });
}

function describeWork(look: Look, paint: Paint): string {
  const { pending, leased, done, dead, parked } = look.events;
  const stuck = `${alarmed(dead, "dead", paint)}  ${alarmed(parked, "parked", paint)}`;
  return `pending ${pending}  leased ${leased}${oldest(backlogAgeMs(look))}  ${stuck}  done ${done}`;
}

function describeOutbox(look: Look, paint: Paint): string {
  const { pending, leased, dead } = look.contactEvents;
  return `pending ${pending}  leased ${leased}${oldest(outboxAgeMs(look))}  ${alarmed(dead, "dead", paint)}`;
}

function listAnswers({ answers }: Rates): string {
  const kinds = Object.entries(answers).map(([kind, count]) => `${count} ${kind}`);
  return kinds.length === 0 ? "0" : kinds.join(", ");
}

function describeAnswers(rates: Rates, paint: Paint): string {
  const until = isoTime(rates.since + rates.stepMs)?.slice(11, 19) ?? "";
  return `${listAnswers(rates)} in ${age(rates.stepMs)} until ${until}  ${paint.dim(bars(rates.course))}`;
}

/** One bar for each step; a blank where nothing is known. */
function bars(course: Rates["course"]): string {
  const highest = Math.max(1, ...course.map((count) => count ?? 0));
  const barOf = (count: number): string => BARS.charAt(Math.ceil((count / highest) * (BARS.length - 1)));
  return course.map((count) => (count === null ? " " : barOf(count))).join("");
}

function totalRuns(rates: Rates | undefined): { runs: number; failed: number } {
  const total = { runs: 0, failed: 0 };
  for (const { runs, failed } of rates?.handlers ?? []) {
    total.runs += runs;
    total.failed += failed;
  }
  return total;
}

function describeHandlers(rates: Rates | undefined, paint: Paint): string[] {
  if (rates === undefined) return [];
  const { handlers, stepMs } = rates;
  const shown = handlers.slice(0, MAX_HANDLERS);
  const rows = shown.map((each) => [...runCells(each, paint), clip(each.handler, WIDTHS.name)]);
  if (rows.length === 0) return [];
  const more = handlers.length - shown.length;
  return [
    "",
    ...formatTable(["RUNS", "FAILED", "P95", `HANDLER in ${age(stepMs)}`], rows, paint.dim).split("\n"),
    ...(more === 0 ? [] : [paint.dim(`and ${countOf(more, "handler")} more`)]),
  ];
}

function runCells({ runs, failed, p95Ms }: RunRates, paint: Paint): string[] {
  return [String(runs), failed === 0 ? "0" : paint.red(String(failed)), describeRunTime(p95Ms)];
}

function describeRunning({ at, running, runningCount }: Look, paint: Paint): string[] {
  if (running.length === 0) return [];
  const rows = running.map(({ handler, eventId, since, host, pid }) => [
    age(at - since),
    clip(handler, WIDTHS.name),
    clip(eventId, WIDTHS.id),
    `${clip(host, WIDTHS.name)}:${pid}`,
  ]);
  const more = runningCount - rows.length;
  return [
    "",
    ...formatTable(["FOR", "RUNS NOW", "EVENT", "PROCESS"], rows, paint.dim).split("\n"),
    ...(more <= 0 ? [] : [paint.dim(`and ${more} more`)]),
  ];
}

function describeErrors({ at, errors, hasMoreErrors }: Look, paint: Paint): string[] {
  if (errors.length === 0) return [];
  const rows = errors.map(({ lastAt, events, isCapped, handler, type, kind, message }) => [
    `${age(at - lastAt)} ago`,
    isCapped ? `${events}+` : String(events),
    clip(handler === "" ? "–" : handler, WIDTHS.name),
    clip(type === "" ? "–" : type, WIDTHS.name),
    clip(message === "" ? kind : `${kind}: ${message}`, WIDTHS.message),
  ]);
  return [
    "",
    ...formatTable(["LAST", "EVENTS", "HANDLER", "TYPE", "ERROR"], rows, paint.dim).split("\n"),
    ...(hasMoreErrors ? [paint.dim("There are more groups: pigeonhole inbox errors")] : []),
  ];
}
