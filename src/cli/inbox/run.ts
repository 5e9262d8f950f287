import { isoTime } from "../../base/iso-time.js";
import type { EventView } from "../../store/inbox-view.js";
import { handlerTimesRow } from "../../dev/api/inbox-rows.js";
import { describeRetry } from "../../capture/model/describe-work.js";
import { wordOfPiece, wordOfWork } from "../../capture/model/work-word.js";
import { NOTE_HANDLER } from "../../base/note-handler.js";
import type { RunCommand } from "../frame/context.js";
import type { Paint } from "../frame/output.js";
import { escapeControls } from "../../base/text.js";
import { age, formatTable } from "../frame/format.js";
import { eventRecord } from "./event-record.js";
import type * as specs from "./spec.js";
import { allRows } from "../values/all-rows.js";
import { paintWork } from "../values/event-work.js";
import { withInbox } from "../values/find-inbox.js";
import { readState } from "../values/state-choice.js";
import { setImmediate } from "node:timers/promises";
import { textOfEvent } from "../../dev/api/find-rows.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import { describeRunTime } from "../../base/run-time-bounds.js";
import type { HandlerTimes } from "../../store/handler-times.js";

export const list: RunCommand<typeof specs.inboxList> = ({ options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { out } = context;
    const { dead, parked, handler, type, error, errorGroup, since, until, text, limit } = options;
    const state = readState(options.state, { dead, parked });
    const filter = { state, handler, type, error, errorGroup, since, until };
    const rows: string[][] = [];
    const eventsOf = (most: number): AsyncIterable<EventView> =>
      allRows(most, (page) => inbox.listEvents({ ...filter, ...page }));
    const { signal } = context;
    const found =
      text === undefined ? eventsOf(limit) : eventsWithText(eventsOf(Infinity), { inbox, text, limit, signal });
    for await (const event of found) {
      if (out.isJson) out.result({ event: eventRecord(event) }, "");
      else rows.push(eventRow(event, out.paint));
    }
    if (out.isJson) return;
    if (rows.length === 0)
      out.note(
        [text, ...Object.values(filter)].every((value) => value === undefined) ? "No events." : "No such events.",
      );
    else out.result({}, formatTable(["RECEIVED", "STATE", "TYPE", "ID", "HANDLERS"], rows, out.paint.dim));
  });

export const stats: RunCommand<typeof specs.inboxStats> = ({ options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { since, until } = options;
    const { events, contactEvents } = await inbox.overview();
    const handlerTimes = await inbox.handlerTimes({ since, until });
    const paused = await inbox.listPaused();
    const { out } = context;
    const { pending, leased, done, dead, parked, oldestPendingReceivedAt, oldestDueAt, pendingByHandler } = events;
    const record = {
      events: { pending, leased, done, dead, parked, pendingByHandler },
      paused: paused.map((each) => ({ ...each, since: isoTime(each.since) })),
      oldestPendingReceivedAt: isoTime(oldestPendingReceivedAt),
      oldestDueAt: isoTime(oldestDueAt),
      contactEvents: { pending: contactEvents.pending, leased: contactEvents.leased, dead: contactEvents.dead },
      handlerTimes: handlerTimes.map(handlerTimesRow),
    };
    const alarmed = (count: number): string => (count === 0 ? "0" : out.paint.red(String(count)));
    const oldest =
      oldestPendingReceivedAt === undefined
        ? ""
        : `, the oldest received ${age(Date.now() - oldestPendingReceivedAt)} ago`;
    const waiting = Object.entries(pendingByHandler).map(([name, count]) => `    ${escapeControls(name)}  ${count}`);
    const pauses = paused.map(
      ({ handler, by, since: at }) => `  ${escapeControls(handler)}  by ${escapeControls(by)} since ${isoTime(at)}`,
    );
    out.result(
      record,
      [
        "work of events",
        `  pending  ${pending}${oldest}`,
        ...waiting,
        `  leased   ${leased}`,
        `  done     ${done}`,
        `  dead     ${alarmed(dead)}`,
        `  parked   ${alarmed(parked)}`,
        ...(pauses.length === 0 ? [] : [out.paint.yellow("paused handlers"), ...pauses]),
        "contact events",
        `  pending  ${contactEvents.pending}`,
        `  leased   ${contactEvents.leased}`,
        `  dead     ${alarmed(contactEvents.dead)}`,
        `handlers since ${isoTime(since)}${until === undefined ? "" : ` until ${isoTime(until)}`}`,
        ...describeHandlerTimes(handlerTimes, out.paint),
      ].join("\n"),
    );
  });

function eventRow({ id, type, receivedAt, handlers }: EventView, paint: Paint): string[] {
  const work = handlers.map((view) => {
    const word = wordOfPiece(view);
    if (view.handler === NOTE_HANDLER) return `(${view.reason ?? word})`;
    return `${view.handler}:${word === "retrying" ? describeRetry(view, isoTime(view.dueAt)) : word}`;
  });
  return [
    new Date(receivedAt).toISOString(),
    paintWork(wordOfWork({ handlers }), paint),
    escapeControls(type === "" ? "–" : type),
    escapeControls(id),
    escapeControls(work.join(" ")),
  ];
}

/** Events between two looks at Ctrl-C. */
const LOOKED_AT_ONCE = 100;

/** Which events. */
interface TextSearch {
  inbox: Pick<InboxOperator, "getEvent">;
  text: string;
  /** Most of them. */
  limit: number;
  /** Ends the search. */
  signal: AbortSignal;
}

/** Those of the events that have the text in what a list shows of them or in the body, in any case of its letters. */
async function* eventsWithText(
  events: AsyncIterable<EventView>,
  { inbox, text, limit, signal }: TextSearch,
): AsyncGenerator<EventView> {
  const needle = text.toLowerCase();
  const isIn = (found: string): boolean => found.toLowerCase().includes(needle);
  let looked = 0;
  let left = limit;
  for await (const event of events) {
    // A file is read without a turn of the event loop, in which Ctrl-C would be noticed.
    if (++looked % LOOKED_AT_ONCE === 0) await setImmediate(undefined, { signal });
    if (!isIn(textOfEvent(event).join("\n"))) {
      const body = (await inbox.getEvent(event.id))?.body;
      if (body === undefined || !isIn(Buffer.from(body).toString("utf8"))) continue;
    }
    yield event;
    left -= 1;
    if (left === 0) return;
  }
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
