import { isoTime } from "../../base/iso-time.js";
import {
  type EventDetail,
  type EventView,
  type FailedRun,
  type FailedRuns,
  type HandlerDetail,
  type HandlerView,
  type KeptStep,
  bodyOf,
  foundEvent,
} from "../../store/inbox-view.js";
import { handlerErrorRows, handlerTimesRow } from "../../dev/api/inbox-rows.js";
import { describeAttempts, describeRetry } from "../../capture/model/describe-work.js";
import { isRetrying, wordOfPiece, wordOfWork } from "../../capture/model/work-word.js";
import { NOTE_HANDLER } from "../../base/note-handler.js";
import type { RunCommand } from "../frame/context.js";
import type { Output, Paint } from "../frame/output.js";
import { escapeControls } from "../../base/text.js";
import { ownFrames } from "../frame/own-frames.js";
import { age, countOf, formatJson, formatTable } from "../frame/format.js";
import { eventsWithText } from "./events-with-text.js";
import { describeHandlerTimes } from "./handler-times.js";
import type * as specs from "./spec.js";
import { allRows } from "../values/all-rows.js";
import { paintWork } from "../values/event-work.js";
import { withInbox } from "../values/find-inbox.js";
import { readState } from "../values/state-choice.js";

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

export const show: RunCommand<typeof specs.inboxShow> = ({ args, options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { out } = context;
    const event = foundEvent(await inbox.getEvent(args.id), args.id, inbox.database);
    if (options.body) {
      out.raw(bodyOf(event));
      return;
    }
    const body = event.body === undefined ? null : Buffer.from(event.body).toString("utf8");
    out.result({ event: { ...detailRecord(event), body } }, describeEvent(event, body, out));
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

function eventRecord(event: EventView): Record<string, unknown> {
  const { id, type, test, receivedAt, signedAt, state, handlers, otherBytes } = event;
  return {
    id,
    type,
    test,
    receivedAt: isoTime(receivedAt),
    signedAt: isoTime(signedAt),
    state,
    work: wordOfWork(event),
    handlers: handlers.map(({ dueAt, settledAt, retryRequestedAt, reason, error, maxAttempts, ...handler }) => ({
      ...handler,
      maxAttempts: maxAttempts ?? null,
      reason: reason ?? null,
      error: error ?? null,
      dueAt: isoTime(dueAt),
      settledAt: isoTime(settledAt),
      ...(retryRequestedAt !== undefined && { retryRequestedAt: isoTime(retryRequestedAt) }),
    })),
    ...(otherBytes.length > 0 && { otherBytes }),
  };
}

/** With the errors in full. */
function detailRecord(event: EventDetail): Record<string, unknown> {
  const handlers = event.handlers.map(({ failed, steps, ...view }) => ({
    ...view,
    ...(steps.length > 0 && { steps: steps.map(({ name, at }) => ({ name, at: isoTime(at) })) }),
    ...(failed !== undefined && { failed: handlerErrorRows(failed) }),
  }));
  return eventRecord({ ...event, handlers });
}

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

function describeEvent(event: EventDetail, body: string | null, { paint }: Output): string {
  const lines = [
    `id        ${escapeControls(event.id)}`,
    `type      ${escapeControls(event.type)}${event.test ? "  (test event)" : ""}`,
    `received  ${new Date(event.receivedAt).toISOString()}`,
    `signed    ${new Date(event.signedAt).toISOString()}`,
    `state     ${paintWork(wordOfWork(event), paint)}`,
    ...event.otherBytes.map((id) => `beside    ${escapeControls(id)}  (other bytes of this id)`),
    ...event.handlers.flatMap((handler) => describeHandler(handler, paint)),
    "",
    body === null ? paint.dim("The body was dropped by retention or erased.") : formatJson(body),
  ];
  return lines.join("\n");
}

function describeHandler(view: HandlerDetail, paint: Paint): string[] {
  const { handler, reason, error, failed, steps } = view;
  const why = reason === undefined ? "" : ` (${escapeControls(reason)})`;
  const name = handler === NOTE_HANDLER ? "not understood" : escapeControls(handler);
  return [
    `handler   ${name}: ${describeState(view, paint)}${why}${describeRuns(view)}`,
    ...(failed === undefined ? linesOf(error ?? "") : describeFailed(failed)).map((line) => `          ${line}`),
    ...steps.map((step) => `          ${describeStep(step)}`),
  ];
}

function describeStep({ name, at }: KeptStep): string {
  return `finished step ${escapeControls(name)} (${isoTime(at) ?? "time not kept"})`;
}

function describeState(view: HandlerView, paint: Paint): string {
  const word = wordOfPiece(view);
  return word === "retrying" ? paint.yellow(`… ${describeRetry(view, isoTime(view.dueAt))}`) : paintWork(word, paint);
}

function describeRuns(view: HandlerView): string {
  const { handler, state, dueAt, retryRequestedAt } = view;
  if (handler === NOTE_HANDLER) return retryRequestedAt === undefined ? "" : ", waits to be read again";
  if (isRetrying(view)) return "";
  return `, ${describeAttempts(view)}${state === "pending" ? `, due ${isoTime(dueAt)}` : ""}`;
}

/** The first and the last error; those between are counted, and the same error is shown once. */
function describeFailed({ first, last }: FailedRuns): string[] {
  const between = last.attempt - first.attempt - 1;
  if (between < 0) return [...(first.at === undefined ? [] : [`${nameOfRun(first)}:`]), ...linesOf(first.stack)];
  const counted = between === 0 ? [] : [`${countOf(between, "more failed attempt")} between`];
  if (first.stack === last.stack) {
    return [`${nameOfRun(first)}, and the same at ${nameOfRun(last)}:`, ...linesOf(first.stack), ...counted];
  }
  return [`${nameOfRun(first)}:`, ...linesOf(first.stack), ...counted, `${nameOfRun(last)}:`, ...linesOf(last.stack)];
}

function nameOfRun({ attempt, at }: FailedRun): string {
  return `attempt ${attempt}${at === undefined ? "" : ` (${isoTime(at)})`}`;
}

function linesOf(text: string): string[] {
  return text === "" ? [] : ownFrames(text.split("\n")).map(escapeControls);
}
