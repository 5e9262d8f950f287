import { type InboxChange, changeOne } from "../operator/change-each.js";
import { eventTimeline } from "../operator/event-timeline.js";
import { JOB_ACTIONS } from "../store/bulk-jobs.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import { type EventDetail, PAGE_LIMIT, bodyOf, foundEvent } from "../store/inbox-view.js";
import type { FileText, UnveiledPayload, WholeEvent } from "./api/event.js";
import { captureFile } from "./capture-file.js";
import { EventFinder } from "./event-finder.js";
import type { InboxTools } from "./inbox-tools.js";
import { PageApiError } from "./page-api-error.js";
import type { EventBytes } from "./personal-data.js";
import { contactEventShower } from "./shown-contact-events.js";
import { showRuns } from "./shown-event.js";
import type { WebCall, WebRoute } from "./web-route.js";

/** Stored events: lists, one event with its life, and what is done to it. */
export function eventRoutes(tools: InboxTools): WebRoute[] {
  const { operator, log } = tools;
  const list = new EventFinder(tools);
  return [
    { at: "GET /api/events", quotes: true, handle: (call) => list.read(call) },
    { at: "GET /api/events/{id}", quotes: true, handle: (call) => readEvent(tools, call) },
    ...JOB_ACTIONS.map((action): WebRoute => ({
      at: `POST /api/events/{id}/${action}`,
      handle({ id, person }): Promise<InboxChange> {
        log.note(person, action, { eventId: id });
        return changeOne(operator(), action, id);
      },
    })),
    ...payloadRoutes(tools),
  ];
}

/** The payload of one event, shown or as a file. */
function payloadRoutes({ operator, personal, log }: InboxTools): WebRoute[] {
  return [
    {
      at: "POST /api/events/{id}/payload",
      needs: "payload",
      async handle({ id, person }): Promise<UnveiledPayload> {
        if (person.payloads !== "full") throw hidden();
        const event = await storedEvent(operator(), id);
        log.note(person, "unveil_payload", { eventId: event.id });
        return { text: Buffer.from(event.body).toString() };
      },
    },
    {
      at: "POST /api/events/{id}/fixture",
      needs: "payload",
      async handle({ id, person }): Promise<FileText> {
        const event = await storedEvent(operator(), id);
        const form = person.payloads === "full" ? "exact" : "redacted";
        log.note(person, "save_fixture", { eventId: event.id, form });
        return captureFile(personal.fixture(event, person.payloads), "fixture");
      },
    },
    {
      at: "POST /api/events/{id}/capture",
      needs: "payload",
      async handle({ id, person }): Promise<FileText> {
        const event = await storedEvent(operator(), id);
        log.note(person, "save_capture", { eventId: event.id });
        return captureFile(personal.shared(event), "redacted");
      },
    },
  ];
}

async function readEvent(tools: InboxTools, { id, person: { payloads: rule } }: WebCall): Promise<WholeEvent> {
  const inbox = tools.operator();
  const event = await findEvent(inbox, id);
  const recorded = await inbox.listContactEvents({ inboxEventId: event.id, limit: PAGE_LIMIT.max });
  const contactEvents = await Promise.all(recorded.items.map(contactEventShower(tools, rule)));
  const known = await inbox.listHandlers();
  const shown = showRuns(event, rule);
  return {
    ...shown,
    timeline: eventTimeline(shown, { contactEvents, known }),
    contactEvents,
    hasMoreContactEvents: recorded.nextCursor !== null,
    payload: tools.personal.payload(event, rule),
  };
}

async function findEvent(inbox: InboxOperator, id: string): Promise<EventDetail> {
  return foundEvent(await inbox.getEvent(id), { id, place: inbox.database });
}

async function storedEvent(operator: InboxOperator, id: string): Promise<EventBytes> {
  const event = await findEvent(operator, id);
  return { id: event.id, type: event.type, receivedAt: event.receivedAt, body: bodyOf(event) };
}

function hidden(): PageApiError {
  return new PageApiError(403, { code: "payload_hidden", message: "You may not see payloads in full." });
}
