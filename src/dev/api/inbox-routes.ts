import { sentEventId } from "../../capture/model/sent-event-id.js";
import type { CaptureFolder } from "../../capture/folder/capture-folder.js";
import { JOB_ACTIONS, type JobAction } from "../../store/bulk-jobs.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import { OUTBOX_STATES } from "../../store/outbox.js";
import { WORK_STATES } from "../../store/work-state.js";
import type { WorkFollower } from "./work-follower.js";
import { readIds } from "./capture-routes.js";
import {
  changeEach,
  changeOne,
  discardEachContactEvent,
  retryEachContactEvent,
  type InboxChange,
  type InboxChanges,
} from "../../operator/change-each.js";
import { findRows, textOfContactEvent, textOfEvent } from "../../operator/find-rows.js";
import { contactEventRow, eventRow, handlerTimesRow, type ContactEventDetail } from "../../operator/inbox-rows.js";
import { CONTACT_EVENT_FILTERS, WORK_FILTERS } from "../../store/filters.js";
import { filtersIn, listPageOf } from "../../web/page-of-query.js";
import { PageApiError } from "../../web/page-api-error.js";
import type {
  ContactEventPage,
  HandlerTimesReport,
  InboxEventDetail,
  InboxEventPage,
  InboxOverview,
  WorkList,
} from "./page-api.js";
import type { WebRoute } from "../../web/find-route.js";

/** Of the key of a contact event. */
const MAX_KEY_LENGTH = 255;

export interface InboxRouteDeps {
  /** Its inbox may appear later; the work is given with it. */
  receiver: { readonly inbox: InboxOperator | undefined; readonly work: WorkFollower | undefined };
  folder: Pick<CaptureFolder, "list">;
}

/** Reads and manages a receiver's database. Without one each of these answers 404 `no_inbox`. */
export function inboxRoutes({ receiver, folder }: InboxRouteDeps): WebRoute[] {
  const database = (): InboxOperator => {
    if (receiver.inbox !== undefined) return receiver.inbox;
    throw new PageApiError(404, {
      code: "no_inbox",
      message: "Start with --inbox <database> to read a receiver's database.",
    });
  };
  return [
    {
      method: "GET",
      path: "/api/inbox",
      handle: async (): Promise<InboxOverview> => {
        return { database: database().database, ...(await database().countLists()) };
      },
    },
    {
      method: "GET",
      path: "/api/inbox/handler-times",
      handle: async ({ query }): Promise<HandlerTimesReport> => {
        const { handler, since, until } = filtersIn(query, WORK_FILTERS);
        const times = await database().handlerTimes({ handler, since, until });
        return { handlers: times.map(handlerTimesRow) };
      },
    },
    {
      method: "GET",
      path: "/api/inbox/events",
      handle: ({ query }) => listEvents(database(), query),
    },
    {
      method: "GET",
      path: "/api/inbox/events/{id}",
      handle: async ({ id }): Promise<InboxEventDetail> => {
        const event = await database().getEvent(id);
        if (event === undefined)
          throw new PageApiError(404, { code: "not_found", message: `There is no event "${id}".` });
        const errors = receiver.work?.learn(event).errors ?? {};
        const body = event.body === undefined ? null : Buffer.from(event.body).toString();
        return { ...eventRow(event), body, errors, captureIds: capturesOf(folder, id) };
      },
    },
    {
      method: "GET",
      path: "/api/work",
      handle: async ({ query }): Promise<WorkList> => {
        const id = query.get("id");
        if (id === null) return { events: receiver.work?.known ?? [] };
        const event = await database().getEvent(id);
        const { work } = receiver;
        return { events: event === undefined || work === undefined ? [] : [work.learn(event)] };
      },
    },
    ...changeRoutes(database, receiver),
    ...contactEventRoutes(database),
  ];
}

async function listEvents(database: InboxOperator, query: URLSearchParams): Promise<InboxEventPage> {
  const wanted = { ...listPageOf(query, WORK_STATES), ...filtersIn(query, WORK_FILTERS) };
  const { items, nextCursor } = await findRows({
    list: (page) => database.listEvents({ ...wanted, ...page }),
    cursor: wanted.cursor,
    text: query.get("text") ?? "",
    textOf: textOfEvent,
  });
  return { items: items.map(eventRow), nextCursor: nextCursor ?? null };
}

/** What is done to events: to several, or to one. */
function changeRoutes(database: () => InboxOperator, receiver: InboxRouteDeps["receiver"]): WebRoute[] {
  const change = async (action: JobAction, id: string): Promise<InboxChange> => {
    const changed = await changeOne(database(), action, id);
    receiver.work?.follow(id);
    return changed;
  };
  return JOB_ACTIONS.flatMap((action): WebRoute[] => [
    {
      method: "POST",
      path: `/api/inbox/${action}`,
      handle: ({ body }): Promise<InboxChanges> =>
        changeEach(readIds(body), async (id) => (await change(action, id)).changed),
    },
    {
      method: "POST",
      path: `/api/inbox/events/{id}/${action}`,
      handle: ({ id }) => change(action, id),
    },
  ]);
}

/** The outbox. */
function contactEventRoutes(database: () => InboxOperator): WebRoute[] {
  return [
    {
      method: "GET",
      path: "/api/inbox/contact-events",
      handle: async ({ query }): Promise<ContactEventPage> => {
        const wanted = { ...listPageOf(query, OUTBOX_STATES), ...filtersIn(query, CONTACT_EVENT_FILTERS) };
        const { items, nextCursor } = await findRows({
          list: (page) => database().listContactEvents({ ...wanted, ...page }),
          cursor: wanted.cursor,
          text: query.get("text") ?? "",
          textOf: textOfContactEvent,
        });
        return { items: items.map(contactEventRow), nextCursor: nextCursor ?? null };
      },
    },
    {
      method: "GET",
      path: "/api/inbox/contact-events/{id}",
      handle: async ({ id: key }): Promise<ContactEventDetail> => {
        const view = await database().getContactEvent(key);
        if (view !== undefined) return { ...contactEventRow(view), body: view.body };
        throw new PageApiError(404, { code: "not_found", message: `There is no contact event with the key "${key}".` });
      },
    },
    {
      method: "POST",
      path: "/api/inbox/contact-events/retry",
      handle: ({ body }): Promise<InboxChanges> => retryEachContactEvent(database(), readIds(body, MAX_KEY_LENGTH)),
    },
    {
      method: "POST",
      path: "/api/inbox/contact-events/discard",
      handle: ({ body }): Promise<InboxChanges> => discardEachContactEvent(database(), readIds(body, MAX_KEY_LENGTH)),
    },
  ];
}

/** The captures, newest first, that carried the event: as they came, or in a replay under a new id. */
function capturesOf(folder: InboxRouteDeps["folder"], id: string): string[] {
  // Another body of the same id is listed under the id, `#` and a digest.
  const [eventId = id] = id.split("#");
  return folder
    .list()
    .filter((capture) => {
      return sentEventId(capture) === eventId || capture.attempts.some((attempt) => attempt.eventId === eventId);
    })
    .map((capture) => capture.id);
}
