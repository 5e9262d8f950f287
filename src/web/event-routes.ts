import { setImmediate } from "node:timers/promises";
import { withOutcomes } from "../capture/model/answer.js";
import type { Capture } from "../capture/model/capture.js";
import { eventTimeline } from "../operator/event-timeline.js";
import { JOB_ACTIONS } from "../store/bulk-jobs.js";
import { eventQuery, givenIn } from "./page-of-query.js";
import { type InboxChange, changeOne } from "../operator/change-each.js";
import { PageApiError } from "./page-api-error.js";
import { type EventDetail, PAGE_LIMIT, bodyOf, foundEvent } from "../store/inbox-view.js";
import type { ActionLog } from "./action-log.js";
import type { WholeEvent, FileText, UnveiledPayload } from "./api/event.js";
import type { PayloadAccess } from "./api/session.js";
import type { ListedEvent, ListedEventPage } from "./api/work.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { InboxCall, InboxRoute } from "./inbox-route.js";
import type { PersonalData, EventBytes } from "./personal-data.js";
import type { SharedReadings } from "./shared-readings.js";
import { showContactEvents } from "./shown-contact-events.js";
import { searchEvents } from "./search-events.js";
import { SideBySide } from "./side-by-side.js";
import { listShownEvents, showRuns } from "./shown-events.js";

/** What the routes of events work with. */
export interface EventRouteTools {
  operator: () => InboxOperator;
  readings: Pick<SharedReadings, "listEvents">;
  personal: PersonalData;
  log: ActionLog;
}

/** Searches that run: each takes the event loop for a payload at a time. */
const MAX_SEARCHES = 10;
/** Those of one person, in all of the person's pages. */
const MAX_SEARCHES_OF_ONE = 3;

/** Stored events: lists, one event with its life, and what is done to it. */
export function eventRoutes(tools: EventRouteTools): InboxRoute[] {
  const searches = new SideBySide(MAX_SEARCHES, tooManySearches, MAX_SEARCHES_OF_ONE);
  return [
    {
      method: "GET",
      path: "/api/events",
      needs: "read",
      quotes: true,
      handle: (call) => listEvents({ ...tools, searches }, call),
    },
    { method: "GET", path: "/api/events/{id}", needs: "read", quotes: true, handle: (call) => readEvent(tools, call) },
    ...changeRoutes(tools),
    ...payloadRoutes(tools),
  ];
}

/** What is done to one event. */
function changeRoutes({ operator, log }: EventRouteTools): InboxRoute[] {
  return JOB_ACTIONS.map((action) => ({
    method: "POST",
    path: `/api/events/{id}/${action}`,
    needs: "operate",
    handle({ id, person }): Promise<InboxChange> {
      log.note(person, action, { eventId: id });
      return changeOne(operator(), action, id);
    },
  }));
}

/** The payload of one event, shown or as a file. */
function payloadRoutes({ operator, personal, log }: EventRouteTools): InboxRoute[] {
  return [
    {
      method: "POST",
      path: "/api/events/{id}/payload",
      needs: "payload",
      async handle({ id, person }): Promise<UnveiledPayload> {
        if (person.payloads !== "full") throw hidden();
        const event = await storedEvent(operator(), id);
        log.note(person, "unveil_payload", { eventId: event.id });
        return { text: Buffer.from(event.body).toString() };
      },
    },
    {
      method: "POST",
      path: "/api/events/{id}/fixture",
      needs: "payload",
      async handle({ id, person }): Promise<FileText> {
        const event = await storedEvent(operator(), id);
        const form = person.payloads === "full" ? "exact" : "redacted";
        log.note(person, "save_fixture", { eventId: event.id, form });
        return captureFile(personal.fixture(event, person.payloads), "fixture");
      },
    },
    {
      method: "POST",
      path: "/api/events/{id}/capture",
      needs: "payload",
      async handle({ id, person }): Promise<FileText> {
        const event = await storedEvent(operator(), id);
        log.note(person, "save_capture", { eventId: event.id });
        return captureFile(personal.shared(event), "redacted");
      },
    },
  ];
}

/** A filter that few events fit is looked for in all of them; the page goes on where the list has ended. */
const PATIENCE_MS = 200;

interface EventListTools extends EventRouteTools {
  searches: SideBySide;
}

async function listEvents(
  tools: EventListTools,
  { query, person: { name, payloads: rule } }: InboxCall,
): Promise<ListedEventPage> {
  const { readings, personal, searches } = tools;
  const wanted = { ...personal.withErrorGroupId(eventQuery(query), rule), patienceMs: PATIENCE_MS };
  const text = givenIn(query, "text")?.trim() ?? "";
  const seesErrors = wanted.error === undefined || rule === "full";
  if (text !== "" && seesErrors && wanted.cursor === undefined) {
    // An id is found at once, however many events there are.
    const { items } = await listShownEvents(readings, { ...wanted, ids: [text] }, rule);
    if (items.length > 0) return { items: await withSubjects(tools, items, rule), nextCursor: null };
  }
  const { items, nextCursor } =
    text === "" && seesErrors
      ? await listShownEvents(readings, wanted, rule)
      : await searches.run(() => searchEvents(tools, { query: wanted, text, rule }), name);
  return { items: await withSubjects(tools, items, rule), nextCursor };
}

/** Larger bodies are not read for the sake of a list. */
const MAX_SUBJECT_BYTES = 8 * 1024;

async function withSubjects(
  { operator, personal }: EventRouteTools,
  events: readonly ListedEvent[],
  rule: PayloadAccess,
): Promise<ListedEvent[]> {
  if (rule === "hidden" || events.length === 0) return [...events];
  const bodies = await operator().readBodies({ ids: events.map(({ id }) => id), maxBytes: MAX_SUBJECT_BYTES });
  const rows: ListedEvent[] = [];
  for (const event of events) {
    const body = bodies.get(event.id);
    const subject = body === undefined ? null : personal.subject({ ...event, body }, rule);
    rows.push({ ...event, subject });
    // Deliveries come meanwhile, and each body takes the event loop.
    await setImmediate();
  }
  return rows;
}

function tooManySearches(): PageApiError {
  const message = "Too many searches run at once, of all people or of you. Search again in some seconds.";
  return new PageApiError(503, { code: "too_many_searches", message });
}

async function readEvent(
  { operator, personal }: EventRouteTools,
  { id, person: { payloads: rule } }: InboxCall,
): Promise<WholeEvent> {
  const inbox = operator();
  const event = await findEvent(inbox, id);
  const recorded = await inbox.listContactEvents({ inboxEventId: event.id, limit: PAGE_LIMIT.max });
  const contactEvents = await showContactEvents({ operator, personal }, recorded.items, rule);
  const known = await inbox.listHandlers();
  const shown = showRuns(event, rule);
  return {
    ...shown,
    timeline: eventTimeline(shown, { contactEvents, known }),
    contactEvents,
    hasMoreContactEvents: recorded.nextCursor !== null,
    payload: personal.payload(event, rule),
  };
}

async function findEvent(inbox: InboxOperator, id: string): Promise<EventDetail> {
  return foundEvent(await inbox.getEvent(id), { id, place: inbox.database });
}

async function storedEvent(operator: InboxOperator, id: string): Promise<EventBytes> {
  const event = await findEvent(operator, id);
  return { id: event.id, type: event.type, receivedAt: event.receivedAt, body: bodyOf(event) };
}

/** One capture, as each file of a folder of captures has it. */
function captureFile(capture: Capture, kind: string): FileText {
  const name = (capture.event.type ?? "capture").replaceAll(/[^\w.-]/g, "_").slice(0, 100);
  const text = `${JSON.stringify(withOutcomes(capture), undefined, 2)}\n`;
  return { name: `${name}.${kind}.json`, mediaType: "application/json", text };
}

function hidden(): PageApiError {
  return new PageApiError(403, { code: "payload_hidden", message: "You may not see payloads in full." });
}
