import { fromInbox } from "../../capture/model/from-inbox.js";
import type { Capture } from "../../capture/model/capture.js";
import { sentEventIds } from "../../capture/model/sent-event-id.js";
import { summarizeCapture } from "../../capture/model/summarize-capture.js";
import { type Query, type QueryTerm, matchesQuery, parseQuery } from "../../capture/query/query.js";
import { eventIdOf } from "../../protocol/inbox-id.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import { type EventQuery, type EventView, PAGE_LIMIT } from "../../store/inbox-view.js";
import { badField } from "../../web/page-api-error.js";
import { eventQuery } from "../../web/page-of-query.js";
import { type CapturePage, WORK_PREFIX, WORK_TERMS } from "./page-api.js";

/** Newest events of the inbox that are looked at, for those that no capture carried and for a search by work. */
const MAX_EVENTS = 2_000;

/** What the id of a delivery begins with that only the inbox has. Behind it is the id of the event. */
const INBOX_PREFIX = "inbox:";

interface ListedFrom {
  kept: readonly Capture[];
  inbox: InboxOperator | undefined;
  query: string;
  limit: number;
  now: number;
}

/** The deliveries that match: the captures that are kept, and events of the inbox that none of them carried. */
export async function listDeliveries({ kept, inbox, query, limit, now }: ListedFrom): Promise<CapturePage> {
  const parsed = parseQuery(query, Object.keys(WORK_TERMS));
  const work = workQuery(parsed.others);
  if (work !== undefined && inbox === undefined)
    throw badField("query", "has work., which needs the inbox of the app: start with --inbox.");
  const found = inbox && work && (await newestEvents(inbox, work));
  const others = inbox === undefined ? [] : [...(await newestEvents(inbox, {})), ...(await namedEvents(inbox, parsed))];
  const events = uncaptured([...others, ...(found ?? [])], kept);
  const all = events.length === 0 ? kept : [...kept, ...events.map(placeholder)].toSorted(byNewest);
  const wanted = found && new Set(found.map(({ id }) => eventIdOf(id)));
  const matching = all.filter(
    (capture) =>
      (wanted === undefined || sentEventIds(capture).some((id) => wanted.has(id))) &&
      (parsed.terms.length === 0 || matchesQuery(parsed, capture, now)),
  );
  return {
    items: matching.slice(0, limit).map(summarizeCapture),
    total: all.length,
    matched: matching.length,
    works: events,
  };
}

/** What the inbox is asked for; undefined for nothing. Throws for what its lists do not take. */
function workQuery(terms: readonly QueryTerm[]): EventQuery | undefined {
  const negated = terms.find((term) => term.negated);
  if (negated !== undefined) throw badField("query", `has ${negated.text}: work cannot be left out, only asked for.`);
  if (terms.length === 0) return undefined;
  const filters = new URLSearchParams();
  for (const { field, value, text } of terms) {
    const name = (field ?? "").slice(WORK_PREFIX.length);
    if (filters.has(name)) throw badField("query", `has ${text} beside another value: ask for one.`);
    filters.set(name, value);
  }
  return eventQuery(filters);
}

/** A link to an event names it by its id, however old it is. */
async function namedEvents(inbox: InboxOperator, { terms }: Query): Promise<EventView[]> {
  const ids = terms.flatMap(({ field, value, negated }) => (field === "id" && !negated ? [value] : []));
  const found = await Promise.all(ids.map((id) => inbox.getEvent(id)));
  return found.flatMap((event) => {
    if (event === undefined) return [];
    const { body: _, seq: __, handlers, ...view } = event;
    return [{ ...view, handlers: handlers.map(({ failed: ___, steps: ____, ...work }) => work) }];
  });
}

/** The delivery of an event that only the inbox has, by the id that its row has; undefined for another id. */
export async function readInboxDelivery(inbox: InboxOperator | undefined, id: string): Promise<Capture | undefined> {
  if (!id.startsWith(INBOX_PREFIX)) return undefined;
  const event = await inbox?.getEvent(id.slice(INBOX_PREFIX.length));
  if (event === undefined) return undefined;
  return asDelivery(event, event.body ?? new Uint8Array());
}

const placeholder = (event: EventView): Capture => asDelivery(event, new Uint8Array());

function asDelivery({ id, type, receivedAt }: EventView, body: Uint8Array): Capture {
  const capture = fromInbox({ id, type, receivedAt, body });
  // What the receiver took was verified.
  return {
    ...capture,
    id: `${INBOX_PREFIX}${id}`,
    event: { ...capture.event, id: eventIdOf(id) },
    verify: { ...capture.verify, code: "ok" },
  };
}

/** Each event once. */
function uncaptured(events: readonly EventView[], kept: readonly Capture[]): EventView[] {
  const carried = new Set(kept.flatMap(sentEventIds));
  const byId = new Map(events.map((event) => [event.id, event]));
  return [...byId.values()].filter(({ id }) => !carried.has(eventIdOf(id)));
}

async function newestEvents(inbox: InboxOperator, which: EventQuery): Promise<EventView[]> {
  const events: EventView[] = [];
  let cursor: string | null = null;
  do {
    const page = await inbox.listEvents({ ...which, limit: PAGE_LIMIT.max, cursor });
    events.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null && events.length < MAX_EVENTS);
  return events;
}

function byNewest(a: Capture, b: Capture): number {
  return a.receivedAt < b.receivedAt ? 1 : a.receivedAt > b.receivedAt ? -1 : 0;
}
