import type * as specs from "./spec.js";
import { type EventView, bodyOf, foundEvent } from "../../store/inbox-view.js";
import { describeRetry } from "../../operator/describe-work.js";
import { NOTE_HANDLER } from "../../base/note-handler.js";
import { eventTimeline } from "../../operator/event-timeline.js";
import { findCallInFront } from "../../store/find-in-inbox.js";
import type { OutboxView } from "../../store/outbox.js";
import type { RunCommand } from "../frame/context.js";
import { type Paint, printRows } from "../frame/output.js";
import { escapeControls } from "../../base/text.js";
import { allRows, withInbox } from "../values/find-inbox.js";
import { paintWork } from "../values/event-work.js";
import { pickFilters } from "../../operator/filter-reader.js";
import { WORK_FILTERS } from "../../store/filters.js";
import { describeEvent } from "./describe-event.js";
import type { ErrorGroup } from "../../store/error-groups.js";
import { usageError } from "../frame/command-error.js";
import { MAX_ROWS } from "../values/options.js";

export const list: RunCommand<typeof specs.inboxList> = ({ options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { out } = context;
    const { state, limit } = options;
    const filter = { state, ...pickFilters(WORK_FILTERS, options) };
    const isAny = Object.values(filter).every((value) => value === undefined);
    await printRows(
      out,
      allRows(limit, (page) => inbox.listEvents({ ...filter, ...page })),
      {
        columns: ["RECEIVED", "STATE", "TYPE", "ID", "HANDLERS"],
        record: (event) => ({ event }),
        cells: (event) => eventCells(event, out.paint),
        none: isAny ? "No events." : "No such events.",
      },
    );
  });

function eventCells({ id, type, state, receivedAt, handlers }: EventView, paint: Paint): string[] {
  const work = handlers.map((view) => {
    if (view.handler === NOTE_HANDLER) return `(${view.reason ?? view.state})`;
    return `${view.handler}:${view.state === "retrying" ? describeRetry(view, view.dueAt) : view.state}`;
  });
  return [
    receivedAt,
    paintWork(state, paint),
    escapeControls(type === "" ? "–" : type),
    escapeControls(id),
    escapeControls(work.join(" ")),
  ];
}

/** Shows one event with all that the database knows of it, or the bytes of its body. */
export const showInboxEvent: RunCommand<typeof specs.inboxShow> = ({ args, options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { out } = context;
    const event = foundEvent(await inbox.getEvent(args.id), { id: args.id, place: inbox.database });
    if (options.body) {
      out.raw(bodyOf(event));
      return;
    }
    const { body: bytes, seq: _, ...view } = event;
    const body = bytes && Buffer.from(bytes).toString("utf8");
    const contactEvents: OutboxView[] = [];
    const ofEvent = allRows(Infinity, (page) => inbox.listContactEvents({ inboxEventId: event.id, ...page }));
    for await (const contactEvent of ofEvent) contactEvents.push(contactEvent);
    const timeline = eventTimeline(event, { contactEvents, known: await inbox.listHandlers() });
    const life = { event, contactEvents, inFront: await findCallInFront(inbox), timeline };
    out.result({ event: { ...view, contactEvents, timeline, body } }, describeEvent(life, body, out.paint));
  });

/** Lists errors of unfinished work, gathered by what they have in common. */
export const errors: RunCommand<typeof specs.inboxErrors> = ({ options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { out } = context;
    const { handler, type, state, since, until, limit } = options;
    if (since !== undefined && until !== undefined && since >= until) {
      throw usageError("No time is between --since and --until: --since must be before --until.");
    }
    const filter = { handler, type, state, since, until };
    const groups: ErrorGroup[] = [];
    // One more than is shown says whether there are others.
    const found = allRows(limit + 1, (page) => inbox.listErrorGroups({ ...filter, ...page }));
    for await (const group of found) groups.push(group);
    await printRows(out, groups.slice(0, limit), {
      columns: ["FIRST", "LAST", "EVENTS", "HANDLER", "TYPE", "ERROR", "GROUP"],
      record: (group) => ({ group }),
      cells: groupCells,
      none: "No errors.",
    });
    if (groups.length > limit) {
      const raise = limit < MAX_ROWS ? "raise --limit, or " : "";
      out.note(`There are more groups: ${raise}choose by --handler or --type.`);
    }
  });

function groupCells({ firstAt, lastAt, events, isCapped, handler, type, kind, message, id }: ErrorGroup): string[] {
  return [
    firstAt,
    lastAt,
    isCapped ? `${events}+` : String(events),
    escapeControls(handler === "" ? "–" : handler),
    escapeControls(type === "" ? "–" : type),
    message === "" ? kind : `${kind}: ${message}`,
    id,
  ];
}
