import { fromInbox } from "../../capture/model/from-inbox.js";
import type { Capture } from "../../capture/model/capture.js";
import { sentEventIds } from "../../capture/model/sent-event-id.js";
import { summarizeCapture } from "../../capture/model/summarize-capture.js";
import { matchesQuery, parseQuery } from "../../capture/query/query.js";
import { eventIdOf } from "../../protocol/inbox-id.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import { type EventView, PAGE_LIMIT } from "../../store/inbox-view.js";
import { EVENT_STATES } from "../../store/state-words.js";
import { badField } from "../../web/page-api-error.js";
import { holdsText } from "../../web/find-shown.js";
import { textsOfEvent } from "../../operator/texts-of-event.js";
import type { CapturePage } from "./page-api.js";

/** Newest events of the inbox that are looked at, for those that no capture carried and for a search by work. */
const MAX_EVENTS = 2_000;

/** What the id of a delivery begins with that only the inbox has. Behind it is the id of the event. */
const INBOX_PREFIX = "inbox:";

/** A term of a search by what handlers made of events: a state, or a text of a handler, a reason or an error. */
const WORK_TERM = /(?:^|\s)work:(?:"([^"]*)"|(\S+))(?=\s|$)/;

interface ListedFrom {
  kept: readonly Capture[];
  inbox: InboxOperator | undefined;
  query: string;
  limit: number;
  now: number;
}

/** The deliveries that match: the captures that are kept, and events of the inbox that none of them carried. */
export async function listDeliveries({ kept, inbox, query, limit, now }: ListedFrom): Promise<CapturePage> {
  const [term = "", quoted, word] = WORK_TERM.exec(query) ?? [];
  const parsed = parseQuery(query.replace(term, ""));
  const newest = inbox === undefined ? [] : await newestEvents(inbox, {});
  const found = term === "" ? undefined : await eventsOf(inbox, quoted ?? word ?? "", newest);
  const wanted = found && new Set(found.map(({ id }) => eventIdOf(id)));
  const events = uncaptured([...newest, ...(found ?? [])], kept);
  const all = events.length === 0 ? kept : [...kept, ...events.map(placeholder)].toSorted(byNewest);
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

async function newestEvents(inbox: InboxOperator, which: { state?: EventView["state"] }): Promise<EventView[]> {
  const events: EventView[] = [];
  let cursor: string | null = null;
  do {
    const page = await inbox.listEvents({ ...which, limit: PAGE_LIMIT.max, cursor });
    events.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null && events.length < MAX_EVENTS);
  return events;
}

async function eventsOf(
  inbox: InboxOperator | undefined,
  value: string,
  newest: readonly EventView[],
): Promise<EventView[]> {
  if (inbox === undefined) throw badField("query", "has work:, which needs the inbox of the app: start with --inbox.");
  const state = EVENT_STATES.find((name) => name === value);
  if (state !== undefined) return newestEvents(inbox, { state });
  // A link to an event names it by its id, however old it is.
  const named = await inbox.listEvents({ ids: [value] });
  return [...named.items, ...newest.filter((event) => holdsText(textsOfEvent(event), value))];
}

function byNewest(a: Capture, b: Capture): number {
  return a.receivedAt < b.receivedAt ? 1 : a.receivedAt > b.receivedAt ? -1 : 0;
}
