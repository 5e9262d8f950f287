import { isPigeonholeError, PigeonholeError } from "../../base/error.js";
import { sentEventId } from "../../capture/model/sent-event-id.js";
import type { CaptureFolder } from "../../capture/folder/capture-folder.js";
import { type EventView, PAGE_LIMIT } from "../../store/inbox-view.js";
import type { InboxOperator, OperatorRetry } from "../../store/inbox-operator.js";
import { OUTBOX_STATES, type OutboxView } from "../../store/outbox.js";
import { WORK_STATES } from "../../store/work-state.js";
import type { WorkFollower } from "../work-follower.js";
import { readIds } from "./capture-routes.js";
import { contactEventRow, eventRow, handlerTimesRow } from "./inbox-rows.js";
import { PageApiError, badField } from "./page-api-error.js";
import type {
  ContactEventDetail,
  ContactEventPage,
  HandlerTimesReport,
  InboxChange,
  InboxChanges,
  InboxEventDetail,
  InboxEventPage,
  InboxOverview,
  WorkList,
} from "./page-api.js";
import type { PageApiRoute } from "./page-api-route.js";

/** Rows that one search looks at. */
const MAX_SEARCHED = 5_000;
/** Of the key of a contact event. */
const MAX_KEY_LENGTH = 255;

export interface InboxRouteDeps {
  /** Its inbox may appear later; the work is given with it. */
  receiver: { readonly inbox: InboxOperator | undefined; readonly work: WorkFollower | undefined };
  folder: Pick<CaptureFolder, "list">;
}

/** Reads and manages a receiver's database. Without one each of these answers 404 `no_inbox`. */
export function inboxRoutes({ receiver, folder }: InboxRouteDeps): PageApiRoute[] {
  const database = (): InboxOperator => {
    if (receiver.inbox !== undefined) return receiver.inbox;
    throw new PageApiError(404, {
      code: "no_inbox",
      message: "Start with --inbox <database> to read a receiver's database.",
    });
  };
  const retry = async (id: string): Promise<OperatorRetry> => {
    const retried = await database().retryEvent(id);
    receiver.work?.follow(id);
    return retried;
  };
  const discard = async (id: string): Promise<number> => {
    const changed = await database().discardEvent(id);
    receiver.work?.follow(id);
    return changed;
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
        const handler = query.get("handler") ?? undefined;
        const [since, until] = [momentOf(query, "since"), momentOf(query, "until")];
        const times = await database().handlerTimes({ handler, since, until });
        return { handlers: times.map(handlerTimesRow) };
      },
    },
    {
      method: "GET",
      path: "/api/inbox/events",
      handle: async ({ query }): Promise<InboxEventPage> => {
        const type = query.get("type") ?? "";
        const wanted = { ...pageOf(query, WORK_STATES), ...(type === "" ? {} : { type }) };
        const { items, nextCursor } = await findRows({
          list: (page) => database().listEvents({ ...wanted, ...page }),
          cursor: wanted.cursor,
          text: query.get("text") ?? "",
          textOf: textOfEvent,
        });
        return { items: items.map(eventRow), nextCursor: nextCursor ?? null };
      },
    },
    {
      method: "POST",
      path: "/api/inbox/retry",
      handle: ({ body }): Promise<InboxChanges> =>
        changeEach(readIds(body), async (id) => {
          const { handlers, readAgain } = await retry(id);
          return handlers + readAgain;
        }),
    },
    {
      method: "POST",
      path: "/api/inbox/discard",
      handle: ({ body }): Promise<InboxChanges> => changeEach(readIds(body), discard),
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
      method: "POST",
      path: "/api/inbox/events/{id}/retry",
      handle: async ({ id }): Promise<InboxChange> => {
        const { handlers, readAgain } = await retry(id);
        if (readAgain === 0) return { changed: handlers };
        return { changed: readAgain, readAgain: (await database().hasReceiver()) ? "now" : "at_start" };
      },
    },
    {
      method: "POST",
      path: "/api/inbox/events/{id}/discard",
      handle: async ({ id }) => ({ changed: await discard(id) }),
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
    ...contactEventRoutes(database),
  ];
}

/** The outbox. */
function contactEventRoutes(database: () => InboxOperator): PageApiRoute[] {
  return [
    {
      method: "GET",
      path: "/api/inbox/contact-events",
      handle: async ({ query }): Promise<ContactEventPage> => {
        const name = query.get("name") ?? "";
        const inboxEventId = query.get("event") ?? undefined;
        const wanted = { ...pageOf(query, OUTBOX_STATES), inboxEventId, ...(name === "" ? {} : { name }) };
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
      handle: ({ body }): Promise<InboxChanges> => retryContactEvents(database(), readIds(body, MAX_KEY_LENGTH)),
    },
    {
      method: "POST",
      path: "/api/inbox/contact-events/discard",
      handle: ({ body }): Promise<InboxChanges> =>
        changeEach(readIds(body, MAX_KEY_LENGTH), async (key) => {
          if (await database().discardContactEvent(key)) return 1;
          throw notChanged(key);
        }),
    },
  ];
}

/** Dead ones are sent again. A retry of one that was sent with others retries these too, so states are read before. */
async function retryContactEvents(inbox: InboxOperator, keys: readonly string[]): Promise<InboxChanges> {
  const stateOf = async (key: string) => (await inbox.getContactEvent(key))?.state;
  const dead: string[] = [];
  for (const key of keys) if ((await stateOf(key)) === "dead") dead.push(key);
  const { changed, failed } = await changeEach(dead, async (key) => {
    if (await inbox.retryContactEvent(key)) return 1;
    const state = await stateOf(key);
    if (state === "pending" || state === "leased") return 1;
    throw notChanged(key);
  });
  return { changed, failed: failed + keys.length - dead.length };
}

function notChanged(key: string): PigeonholeError {
  return new PigeonholeError("not_found", `No contact event with the key "${key}" can be changed.`);
}

/** Rows to search in, a page after the other. */
interface RowSearch<Row> {
  list: (page: { limit?: number; cursor: string | undefined }) => Promise<RowPage<Row>>;
  cursor?: string | undefined;
  text: string;
  /** The texts of a row that a search looks at. */
  textOf: (row: Row) => readonly string[];
}

interface RowPage<Row> {
  items: Row[];
  nextCursor: string | undefined;
}

/**
 * A page of rows that hold the text, in any case of its letters. The page may be short, or empty, with a cursor: a
 * search looks at so many rows at once, and the page asks for more.
 */
async function findRows<Row>({ list, cursor: from, text, textOf }: RowSearch<Row>): Promise<RowPage<Row>> {
  const needle = text.trim().toLowerCase();
  if (needle === "") return list({ cursor: from });
  const items: Row[] = [];
  let cursor = from;
  for (let looked = 0; looked < MAX_SEARCHED && items.length < PAGE_LIMIT.default; looked += PAGE_LIMIT.max) {
    const page = await list({ limit: PAGE_LIMIT.max, cursor });
    items.push(...page.items.filter((row) => textOf(row).join("\n").toLowerCase().includes(needle)));
    cursor = page.nextCursor;
    if (cursor === undefined) break;
  }
  return { items, nextCursor: cursor };
}

function textOfEvent({ id, type, handlers }: EventView): string[] {
  return [id, type, ...handlers.flatMap(({ handler, reason = "", error = "" }) => [handler, reason, error])];
}

function textOfContactEvent(view: OutboxView): string[] {
  const { name, contact } = contactEventRow(view);
  const { key, reason = "", code = "", param = "", message = "", error = "" } = view;
  return [key, name, contact, reason, code, param, message, error];
}

/** Changes one event after the other. One that cannot be changed is counted, and does not keep the others back. */
async function changeEach(ids: readonly string[], change: (id: string) => Promise<number>): Promise<InboxChanges> {
  let changed = 0;
  let failed = 0;
  for (const id of ids) {
    try {
      changed += await change(id);
    } catch (error) {
      // Without the event, or its body, nothing can be changed on it.
      if (!isPigeonholeError(error) || (error.code !== "not_found" && error.code !== "body_dropped")) throw error;
      failed += 1;
    }
  }
  return { changed, failed };
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

/** In milliseconds since 1970; undefined when it is left out. */
function momentOf(query: URLSearchParams, name: string): number | undefined {
  const given = query.get(name);
  if (given === null) return undefined;
  const moment = Date.parse(given);
  if (Number.isNaN(moment)) throw badField(name, "must be a time in ISO 8601.");
  return moment;
}

function pageOf<State extends string>(query: URLSearchParams, states: readonly State[]) {
  const state = query.get("state");
  const cursor = query.get("cursor");
  const known = states.find((candidate) => candidate === state);
  if (state !== null && state !== "" && known === undefined)
    throw badField("state", `must be one of ${states.join(", ")}.`);
  return { state: known, ...(cursor === null ? {} : { cursor }) };
}
