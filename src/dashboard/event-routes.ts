import { isoTime } from "../base/iso-time.js";
import { withOutcomes } from "../capture/model/answer.js";
import type { Capture } from "../capture/model/capture.js";
import { findRows, textOfEvent } from "../dev/api/find-rows.js";
import { contactEventRow, eventRow, workOn } from "../dev/api/inbox-rows.js";
import { momentOf, listPageOf } from "../dev/api/page-of-query.js";
import type { InboxChange } from "../dev/api/page-api.js";
import { PageApiError } from "../dev/api/page-api-error.js";
import { type EventDetail, type EventQuery, type EventView, bodyOf } from "../store/inbox-view.js";
import type { Store } from "../store/store.js";
import { WORK_STATES } from "../store/work-state.js";
import type { ActionLog } from "./action-log.js";
import type {
  DashboardEvent,
  DashboardEventDetail,
  DashboardEventPage,
  FileText,
  PayloadAccess,
  UnveiledPayload,
} from "./dashboard-api.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { DashboardCall, DashboardRoute } from "./dashboard-route.js";
import { eventTimeline } from "./event-timeline.js";
import { findInPayloads } from "./find-in-payloads.js";
import type { PersonalData, EventBytes } from "./personal-data.js";

/** What the routes of events work with. */
export interface EventRouteTools {
  operator: () => InboxOperator;
  /** Knows the steps of a handler. */
  store: Pick<Store, "loadSteps">;
  personal: PersonalData;
  log: ActionLog;
}

const MAX_CONTACT_EVENTS = 50;

/** Stored events: lists, one event with its life, and what is done to it. */
export function eventRoutes(tools: EventRouteTools): DashboardRoute[] {
  const { operator, personal, log } = tools;
  const file = (call: DashboardCall, kind: string, make: (event: EventBytes) => Capture): Promise<FileText> =>
    storedEvent(operator(), call.id).then((event) => captureFile(make(event), kind));
  return [
    { method: "GET", path: "/api/events", needs: "read", handle: (call) => listEvents(tools, call) },
    { method: "GET", path: "/api/events/{id}", needs: "read", handle: (call) => readEvent(tools, call) },
    {
      method: "POST",
      path: "/api/events/{id}/retry",
      needs: "operate",
      async handle({ id, person }): Promise<InboxChange> {
        log.note(person, "retry", { eventId: id });
        const { handlers, readAgain } = await operator().retryEvent(id);
        if (readAgain === 0) return { changed: handlers };
        return { changed: readAgain, readAgain: (await operator().hasReceiver()) ? "now" : "at_start" };
      },
    },
    {
      method: "POST",
      path: "/api/events/{id}/discard",
      needs: "operate",
      async handle({ id, person }): Promise<InboxChange> {
        log.note(person, "discard", { eventId: id });
        return { changed: await operator().discardEvent(id) };
      },
    },
    {
      method: "POST",
      path: "/api/events/{id}/run",
      needs: "operate",
      async handle({ id, person }): Promise<InboxChange> {
        log.note(person, "run", { eventId: id });
        return { changed: await operator().runEvent(id) };
      },
    },
    {
      method: "POST",
      path: "/api/events/{id}/payload",
      needs: "payload",
      async handle({ id, person }): Promise<UnveiledPayload> {
        if (person.payloads !== "full") throw hidden();
        const { body } = await storedEvent(operator(), id);
        log.note(person, "unveil_payload", { eventId: id });
        return { text: Buffer.from(body).toString() };
      },
    },
    {
      method: "POST",
      path: "/api/events/{id}/fixture",
      needs: "payload",
      handle(call): Promise<FileText> {
        log.note(call.person, "save_fixture", { eventId: call.id });
        return file(call, "fixture", (event) => personal.fixture(event, call.person.payloads));
      },
    },
    {
      method: "POST",
      path: "/api/events/{id}/capture",
      needs: "payload",
      handle(call): Promise<FileText> {
        log.note(call.person, "save_capture", { eventId: call.id });
        return file(call, "redacted", (event) => personal.shared(event));
      },
    },
  ];
}

/** A filter that few events fit is looked for in all of them; the page goes on where the list has ended. */
const PATIENCE_MS = 200;

async function listEvents(
  { operator, personal }: EventRouteTools,
  { query, person: { payloads } }: DashboardCall,
): Promise<DashboardEventPage> {
  const wanted = eventQuery(query);
  const list = (page: EventQuery) => operator().listEvents({ ...wanted, ...page, patienceMs: PATIENCE_MS });
  const text = query.get("text") ?? "";
  // What is not shown must not be found out by searching for it.
  const textOf = (view: EventView): string[] => textOfEvent(view).map((each) => personal.text(each, payloads));
  const search = { list, cursor: wanted.cursor, text, textOf };
  const { items, nextCursor } =
    text === "" || payloads === "hidden"
      ? await findRows(search)
      : await findInPayloads(search, async ({ id }) => {
          const event = await operator().getEvent(id);
          return event?.body === undefined ? undefined : personal.redacted({ ...event, body: event.body });
        });
  return { items: items.map((each) => shownEvent(each, personal, payloads)), nextCursor: nextCursor ?? null };
}

function eventQuery(query: URLSearchParams): EventQuery {
  const given = (name: string): string | undefined => query.get(name) || undefined;
  const id = given("id");
  return {
    ...listPageOf(query, WORK_STATES),
    handler: given("handler"),
    type: given("type"),
    error: given("error"),
    errorGroup: given("group"),
    since: momentOf(query, "since"),
    until: momentOf(query, "until"),
    ...(id === undefined ? {} : { ids: [id] }),
  };
}

function shownEvent(event: EventView, personal: PersonalData, rule: PayloadAccess): DashboardEvent {
  const due = event.handlers.flatMap(({ dueAt }) => (dueAt === undefined ? [] : [dueAt]));
  return { ...personal.event(eventRow(event), rule), nextRunAt: due.length === 0 ? null : isoTime(Math.min(...due)) };
}

async function readEvent(
  { operator, store, personal }: EventRouteTools,
  { id, person: { payloads: rule } }: DashboardCall,
): Promise<DashboardEventDetail> {
  const event = await operator().getEvent(id);
  if (event === undefined)
    throw new PageApiError(404, { code: "not_found", message: "There is no event with this id." });
  const recorded = await operator().listContactEvents({ inboxEventId: id, limit: MAX_CONTACT_EVENTS });
  const contactEvents = recorded.items.map((view) => personal.contactEvent(contactEventRow(view), rule));
  const errors = Object.entries(workOn(event).errors);
  return {
    ...shownEvent(event, personal, rule),
    errors: Object.fromEntries(errors.map(([handler, failed]) => [handler, personal.failed(failed, rule)])),
    signedAt: isoTime(event.signedAt),
    timeline: eventTimeline(event, contactEvents, (text) => personal.text(text, rule)),
    steps: await stepsOf(store, event),
    contactEvents,
    otherBytes: [...event.otherBytes],
    payload: personal.payload(event, rule),
  };
}

/** The names of what handlers keep for a later run; values may be personal. */
async function stepsOf(store: EventRouteTools["store"], { seq, handlers }: EventDetail) {
  const unfinished = handlers.filter(({ state, attempts }) => state !== "done" && attempts > 0);
  const steps = unfinished.map(async ({ handler }) => {
    const names = Object.keys(await store.loadSteps({ seq, handler }));
    return names.map((name) => ({ handler, name }));
  });
  return (await Promise.all(steps)).flat();
}

async function storedEvent(operator: InboxOperator, id: string): Promise<EventBytes> {
  const event = await operator.getEvent(id);
  if (event === undefined)
    throw new PageApiError(404, { code: "not_found", message: "There is no event with this id." });
  return { id, type: event.type, receivedAt: event.receivedAt, body: bodyOf(event) };
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
