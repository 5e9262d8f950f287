import type { EventView, HandlerView } from "../../store/inbox-view.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import { OUTBOX_STATES, type OutboxView } from "../../store/outbox.js";
import { WORK_STATES } from "../../store/work-state.js";
import { PageApiError, badField } from "./page-api-error.js";
import type {
  ContactEventPage,
  ContactEventRow,
  InboxChange,
  InboxEvent,
  InboxEventDetail,
  InboxEventPage,
  InboxHandler,
  InboxOverview,
} from "./page-api.js";
import type { PageApiRoute } from "./page-api-route.js";

/** Reads and manages a receiver's database. Without one each of these answers 404 `no_inbox`. */
export function inboxRoutes(inbox: InboxOperator | undefined): PageApiRoute[] {
  const file = (): InboxOperator => {
    if (inbox !== undefined) return inbox;
    throw new PageApiError(404, {
      code: "no_inbox",
      message: "Start with --inbox <file> to read a receiver's database.",
    });
  };
  return [
    {
      method: "GET",
      path: "/api/inbox",
      handle: async (): Promise<InboxOverview> => {
        return { file: file().file, ...(await file().countLists()) };
      },
    },
    {
      method: "GET",
      path: "/api/inbox/events",
      handle: async ({ query }): Promise<InboxEventPage> => {
        const { items, nextCursor } = await file().listEvents(pageOf(query, WORK_STATES));
        return { items: items.map(eventRow), nextCursor: nextCursor ?? null };
      },
    },
    {
      method: "GET",
      path: "/api/inbox/events/{id}",
      handle: async ({ id }): Promise<InboxEventDetail> => {
        const event = await file().getEvent(id);
        if (event === undefined)
          throw new PageApiError(404, { code: "not_found", message: `There is no event "${id}".` });
        return { ...eventRow(event), body: event.body === undefined ? null : Buffer.from(event.body).toString() };
      },
    },
    {
      method: "POST",
      path: "/api/inbox/events/{id}/retry",
      handle: async ({ id }): Promise<InboxChange> => {
        const { handlers, readAgain } = await file().retryEvent(id);
        if (readAgain === 0) return { changed: handlers };
        return { changed: readAgain, readAgain: (await file().hasReceiver()) ? "now" : "at_start" };
      },
    },
    {
      method: "POST",
      path: "/api/inbox/events/{id}/discard",
      handle: async ({ id }) => ({ changed: await file().discardEvent(id) }),
    },
    {
      method: "GET",
      path: "/api/inbox/contact-events",
      handle: async ({ query }): Promise<ContactEventPage> => {
        const { items, nextCursor } = await file().listContactEvents(pageOf(query, OUTBOX_STATES));
        return { items: items.map(contactEventRow), nextCursor: nextCursor ?? null };
      },
    },
    {
      method: "POST",
      path: "/api/inbox/contact-events/{id}/retry",
      handle: async ({ id: key }) => ({ changed: Number(await file().retryContactEvent(key)) }),
    },
    {
      method: "POST",
      path: "/api/inbox/contact-events/{id}/discard",
      handle: async ({ id: key }) => ({ changed: Number(await file().discardContactEvent(key)) }),
    },
  ];
}

function pageOf<State extends string>(query: URLSearchParams, states: readonly State[]) {
  const state = query.get("state");
  const cursor = query.get("cursor");
  const known = states.find((candidate) => candidate === state);
  if (state !== null && state !== "" && known === undefined)
    throw badField("state", `must be one of ${states.join(", ")}.`);
  return { state: known, ...(cursor === null ? {} : { cursor }) };
}

function eventRow({ id, type, test, receivedAt, state, handlers }: EventView): InboxEvent {
  return { id, type, test, receivedAt: isoTime(receivedAt), state, handlers: handlers.map(handlerRow) };
}

function handlerRow(view: HandlerView): InboxHandler {
  const { handler, state, reason, error, attempts, dueAt, retryRequestedAt } = view;
  return {
    handler,
    state,
    reason: reason ?? null,
    error: error ?? null,
    attempts,
    dueAt: dueAt === undefined ? null : isoTime(dueAt),
    retryRequestedAt: retryRequestedAt === undefined ? null : isoTime(retryRequestedAt),
  };
}

function contactEventRow(view: OutboxView): ContactEventRow {
  const { name, email, contactId } = JSON.parse(view.body) as { name: string; email?: string; contactId?: string };
  return {
    key: view.key,
    state: view.state,
    name,
    contact: email ?? contactId ?? "",
    recordedAt: isoTime(view.recordedAt),
    reason: view.reason ?? null,
    code: view.code ?? null,
    param: view.param ?? null,
    message: view.message ?? null,
  };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
