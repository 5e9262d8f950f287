import { findCallInFront } from "../../store/call-in-front.js";
import type { OutboxView } from "../../store/outbox.js";
import { pickFilters } from "../../operator/filter-reader.js";
import { CONTACT_EVENT_FILTERS } from "../../store/filters.js";
import type { RunCommand } from "../frame/context.js";
import { escapeControls } from "../../base/text.js";
import { formatJson } from "../frame/format.js";
import { printRows } from "../frame/rows.js";
import type * as specs from "./spec.js";
import { allRows, withInbox } from "../values/find-inbox.js";
import { describeCallInFront, describeContactEvent, nextTry } from "../values/describe-contact-event.js";
import { notFound } from "./retry-and-discard.js";

export const list: RunCommand<typeof specs.outboxList> = ({ options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { out } = context;
    const { state, event: inboxEventId, limit } = options;
    const filter = { state, ...pickFilters(CONTACT_EVENT_FILTERS, { ...options, inboxEventId }) };
    const inFront = await findCallInFront(inbox);
    const isAny = Object.values(filter).every((value) => value === undefined);
    const events = allRows(limit, (page) => inbox.listContactEvents({ ...filter, ...page }));
    await printRows(out, events, {
      columns: ["RECORDED", "STATE", "NAME", "KEY", "ATTEMPTS", "NEXT TRY", "WHY"],
      record: (contactEvent) => ({ contactEvent }),
      cells: (event) => cellsOf(event, inFront),
      none: isAny ? "No contact events." : "No such contact events.",
    });
  });

export const show: RunCommand<typeof specs.outboxShow> = ({ args, options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const event = await inbox.getContactEvent(args.key);
    if (event === undefined) throw notFound(args.key);
    const { out } = context;
    const [head = "", ...details] = describeContactEvent(event, {
      inFront: await findCallInFront(inbox),
      paint: out.paint,
    });
    const about = `recorded ${event.recordedAt}${event.inboxEventId === null ? "" : ` for ${event.inboxEventId}`}`;
    const lines = [head, `    ${escapeControls(about)}`, ...details].map((line) => line.slice(2));
    out.result({ contactEvent: event }, [...lines, "", formatJson(event.body)].join("\n"));
  });

function cellsOf(event: OutboxView, inFront: OutboxView | undefined): string[] {
  const { key, state, recordedAt, name, attempts, error, reason, code, param } = event;
  const failure = [error, reason, code, param].filter((part) => part !== null && part !== "").join(" ");
  const why = describeCallInFront(event, inFront) ?? failure;
  return [
    recordedAt,
    state,
    escapeControls(name),
    escapeControls(key),
    String(attempts),
    nextTry(event, inFront) ?? "–",
    escapeControls(why),
  ];
}
