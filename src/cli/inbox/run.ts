import { isoTime } from "../../base/iso-time.js";
import type { EventView } from "../../store/inbox-view.js";
import { describeRetry } from "../../capture/model/describe-work.js";
import { wordOfPiece, wordOfWork } from "../../capture/model/work-word.js";
import { NOTE_HANDLER } from "../../base/note-handler.js";
import type { RunCommand } from "../frame/context.js";
import type { Paint } from "../frame/output.js";
import { escapeControls } from "../../base/text.js";
import { formatTable } from "../frame/format.js";
import { eventRecord } from "./event-record.js";
import type * as specs from "./spec.js";
import { allRows } from "../values/all-rows.js";
import { paintWork } from "../values/event-work.js";
import { withInbox } from "../values/find-inbox.js";
import { setImmediate } from "node:timers/promises";
import { pickFilters } from "../../operator/filter-reader.js";
import { WORK_FILTERS } from "../../store/filters.js";
import { textOfEvent } from "../../operator/find-rows.js";
import type { InboxOperator } from "../../store/inbox-operator.js";

export const list: RunCommand<typeof specs.inboxList> = ({ options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { out } = context;
    const { state, text, limit } = options;
    const filter = { state, ...pickFilters(WORK_FILTERS, options) };
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
