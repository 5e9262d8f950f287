import { findCallInFront } from "../../store/find-in-inbox.js";
import type { OutboxView, ContactEventChoice } from "../../store/outbox.js";
import { pickFilters } from "../../operator/filter-reader.js";
import { CONTACT_EVENT_FILTERS } from "../../store/filters.js";
import { confirm } from "../frame/confirm.js";
import type { RunCommand } from "../frame/context.js";
import { escapeControls } from "../../base/text.js";
import { formatJson, countOf } from "../frame/format.js";
import { printRows } from "../frame/output.js";
import type * as specs from "./spec.js";
import { allRows, withInbox } from "../values/find-inbox.js";
import { describeCallInFront, describeContactEvent, nextTry } from "../values/describe-contact-event.js";
import { PigeonholeError } from "../../base/error.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import { EXIT, type ExitCode } from "../frame/command-error.js";
import { changeNamed, readChosen } from "../values/change-named.js";

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

const NONE_DEAD = "No such contact event is dead.";

export const retryContactEvents: RunCommand<typeof specs.outboxRetry> = ({ args, options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { out } = context;
    const { keys } = args;
    const choice = readChosen(CONTACT_EVENT_FILTERS, { names: keys, what: WHAT, options });
    const hasReceiver = await inbox.hasReceiver();
    const when = hasReceiver ? "by the running receiver, within 2 s" : "at the next start";
    if (choice !== undefined) {
      const contactEvents = await inbox.changeContactEvents("retry", choice);
      const text = contactEvents === 0 ? NONE_DEAD : `${eventsOf(contactEvents)} will be sent again ${when}`;
      out.result({ contactEvents, hasReceiver }, text);
      return EXIT.ok;
    }
    return changeNamed({ names: keys, field: "key", out }, async (key) => {
      const contactEvents = await inbox.changeContactEvent("retry", key);
      if (contactEvents === 0) {
        const event = await inbox.getContactEvent(key);
        const wait = event && describeCallInFront(event, await findCallInFront(inbox));
        if (wait !== undefined) throw waiting(key, wait);
        if (typeof event?.dueAt !== "string")
          throw notFound(key, " that is dead or waits for the next try of its call");
        return { fields: { done: true, contactEvents, hasReceiver }, text: "is due already" };
      }
      const others = contactEvents > 1 ? ` with ${contactEvents - 1} more of its call, which may have arrived` : "";
      return { fields: { done: true, contactEvents, hasReceiver }, text: `will be sent again${others} ${when}` };
    });
  });

export const discardContactEvents: RunCommand<typeof specs.outboxDiscard> = ({ args, options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { out } = context;
    const { keys } = args;
    const choice = readChosen(CONTACT_EVENT_FILTERS, { names: keys, what: WHAT, options });
    if (choice !== undefined) return discardChosen(inbox, choice, context);
    const what = keys.length === 1 ? "this contact event" : eventsOf(keys.length);
    if (!(await confirm(`Discard ${what}?`, context))) return EXIT.failed;
    return changeNamed({ names: keys, field: "key", out }, async (key) => {
      if ((await inbox.changeContactEvent("discard", key)) === 0)
        throw notFound(key, " that is dead or not yet being sent");
      const callEvents = (await inbox.getContactEvent(key))?.callEvents ?? null;
      const note =
        callEvents === null
          ? ""
          : `; it may have taken effect, and goes out again if another of the ${callEvents} events of its call is retried`;
      return { fields: { done: true, callEvents }, text: `discarded${note}` };
    });
  });

async function discardChosen(
  inbox: InboxOperator,
  choice: ContactEventChoice,
  context: Parameters<typeof confirm>[1],
): Promise<ExitCode> {
  const found = await inbox.changeContactEvents("discard", choice, { dryRun: true });
  if (found > 0 && !(await confirm(`Discard ${eventsOf(found)}?`, context))) return EXIT.failed;
  const contactEvents = await inbox.changeContactEvents("discard", choice);
  context.out.result({ contactEvents }, contactEvents === 0 ? NONE_DEAD : `${eventsOf(contactEvents)} discarded`);
  return EXIT.ok;
}

const WHAT = "keys of contact events, or choose dead ones";

const eventsOf = (count: number): string => countOf(count, "contact event");

function waiting(key: string, wait: string): PigeonholeError {
  const text = `The contact event with the key "${escapeControls(key)}" ${escapeControls(wait)}. Retry that one.`;
  return new PigeonholeError("not_found", text);
}

/** The error for a key that no contact event has in such a `condition`. */
function notFound(key: string, condition = ""): PigeonholeError {
  return new PigeonholeError(
    "not_found",
    `There is no contact event with the key "${escapeControls(key)}"${condition}.`,
  );
}
