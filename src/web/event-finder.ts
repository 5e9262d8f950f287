import { setImmediate } from "node:timers/promises";
import { piecesIn } from "../operator/states.js";
import type { EventView, HandlerView } from "../store/inbox-view.js";
import type { PatientEventQuery } from "../store/list-windows.js";
import type { PayloadAccess } from "./api/session.js";
import type { ListedEvent, RowPage } from "./api/event.js";
import { findShown, holdsText } from "./find-shown.js";
import type { InboxTools } from "./inbox-tools.js";
import { PageApiError } from "./page-api-error.js";
import { eventQuery, givenIn } from "./page-of-query.js";
import { MAX_REDACTED_BYTES } from "./personal-data.js";
import { showEvent } from "./shown-event.js";
import { SideBySide } from "./side-by-side.js";
import type { Viewer, WebCall } from "./web-route.js";

/** Searches that run: each takes the event loop for a payload at a time. */
const MAX_SEARCHES = 10;
/** Those of one person, in all of the person's pages. */
const MAX_SEARCHES_OF_ONE = 3;

/** A filter that few events fit is looked for in all of them; the page goes on where the list has ended. */
const PATIENCE_MS = 200;

/** Which events are looked for. */
interface WantedEvents {
  query: PatientEventQuery;
  /** In what is shown of an event and of its payload; empty for any. */
  text: string;
}

/** Pages of events as a person may see them, newest first. One of a search may be short, or empty, with a cursor. */
export class EventFinder {
  readonly #tools: InboxTools;
  readonly #searches = new SideBySide(MAX_SEARCHES, tooManySearches, MAX_SEARCHES_OF_ONE);

  constructor(tools: InboxTools) {
    this.#tools = tools;
  }

  async read({ query: given, person }: WebCall): Promise<RowPage<ListedEvent>> {
    const { payloads: rule } = person;
    const wanted = this.#tools.personal.withErrorGroupId(eventQuery(given), rule);
    const text = givenIn(given, "text")?.trim() ?? "";
    const { items, nextCursor } = await this.#find({ query: { ...wanted, patienceMs: PATIENCE_MS }, text }, person);
    return { items: await this.#withSubjects(items, rule), nextCursor };
  }

  async #find({ query, text }: WantedEvents, { name, payloads: rule }: Viewer): Promise<RowPage<ListedEvent>> {
    const list = async (which: PatientEventQuery): Promise<RowPage<ListedEvent>> => {
      const { items, nextCursor } = await this.#tools.readings.listEvents(which);
      return { items: items.map((event) => showEvent(event, rule)), nextCursor };
    };
    const seesErrors = query.error === undefined || rule === "full";
    if (seesErrors && text === "") return list(query);
    if (seesErrors && query.cursor === undefined) {
      // An id is found at once, however many events there are.
      const { items } = await list({ ...query, ids: [text] });
      if (items.length > 0) return { items, nextCursor: null };
    }
    return this.#searches.run(() => this.#search({ query, text }, rule), name);
  }

  /** What is not shown must not be found out by searching for it: the store only says which events have an error. */
  #search({ query, text }: WantedEvents, rule: PayloadAccess): Promise<RowPage<ListedEvent>> {
    const { operator } = this.#tools;
    const { error } = query;
    const stored = { ...query, error: error === undefined || rule === "full" ? error : "" };
    return findShown({
      list: (page) => operator().listEvents({ ...stored, ...page }),
      cursor: query.cursor,
      look: async (view: EventView) => {
        const row = showEvent(view, rule);
        if (error !== undefined && workWithError(row, { ...query, error }).length === 0) return undefined;
        const { id, type, handlers } = row;
        const texts = [id, type, ...handlers.flatMap((work) => [work.handler, work.reason, work.error])];
        return holdsText(texts, text) || (await this.#payloadHolds(view, text, rule)) ? row : undefined;
      },
    });
  }

  async #payloadHolds({ id, type, receivedAt }: EventView, text: string, rule: PayloadAccess): Promise<boolean> {
    if (rule === "hidden") return false;
    const { operator, personal } = this.#tools;
    const body = (await operator().readBodies({ ids: [id], maxBytes: MAX_REDACTED_BYTES })).get(id);
    return body !== undefined && holdsText([personal.redacted({ id, type, receivedAt, body })], text);
  }

  async #withSubjects(events: ListedEvent[], rule: PayloadAccess): Promise<ListedEvent[]> {
    if (rule === "hidden" || events.length === 0) return events;
    const { operator, personal } = this.#tools;
    const bodies = await operator().readBodies({ ids: events.map(({ id }) => id), maxBytes: MAX_REDACTED_BYTES });
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
}

/** The work of an event that a query chooses by what is shown of its reason and its error. */
function workWithError({ handlers }: ListedEvent, query: PatientEventQuery & { error: string }): HandlerView[] {
  const { state, handler, error } = query;
  return piecesIn(handlers, state ?? "").filter(
    (each) => (handler === undefined || each.handler === handler) && holdsText([each.reason, each.error], error),
  );
}

function tooManySearches(): PageApiError {
  const message = "Too many searches run at once, of all people or of you. Search again in some seconds.";
  return new PageApiError(503, { code: "too_many_searches", message });
}
