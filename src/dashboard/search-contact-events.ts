import type { RowPage } from "../dev/api/find-rows.js";
import { seqCursor } from "../store/check-query.js";
import type { OutboxPage, OutboxQuery } from "../store/outbox.js";
import type { DashboardContactEvent } from "./api/contact-events.js";
import { findShown, holdsText } from "./find-shown.js";
import type { Reader } from "./quote-hider.js";
import { type ContactEventShowTools, showContactEvents } from "./shown-contact-events.js";

/** What is looked for, and for whom. */
export interface ContactEventSearch {
  query: OutboxQuery;
  /** In what is shown of the answer of the API. */
  error: string | undefined;
  /** In what is shown of a contact event; empty for any. */
  text: string;
  reader: Reader;
}

/** A page of the contact events that are found, newest first. It may be short, or empty, with a cursor. */
export function searchContactEvents(
  { operator, quotes }: ContactEventShowTools,
  { query, error, text, reader }: ContactEventSearch,
): Promise<RowPage<DashboardContactEvent>> {
  const isFound = (row: DashboardContactEvent): boolean => {
    const answer = [row.reason, row.code, row.param, row.message, row.error];
    // The store has looked for errors that are shown as they are.
    const hasError = error === undefined || reader.rule === "full" || holdsText(answer, error);
    return hasError && holdsText([row.key, row.idempotencyKey, row.name, row.contact, ...answer], text);
  };
  const once = readOnce(operator);
  return findShown({
    list: async (page) => {
      const { items, nextCursor } = await operator().listContactEvents({ ...query, ...page });
      return { items, nextCursor, cursors: items.map(seqCursor) };
    },
    cursor: query.cursor,
    look: async (view) => {
      const [row] = await showContactEvents({ operator: once, quotes }, [view], reader);
      return row !== undefined && isFound(row) ? row : undefined;
    },
  });
}

/** Reads what all rows of a search wait for with the first of them. */
function readOnce(operator: ContactEventShowTools["operator"]): ContactEventShowTools["operator"] {
  let page: Promise<OutboxPage> | undefined;
  const listContactEvents = (query?: OutboxQuery) => (page ??= operator().listContactEvents(query));
  return () => ({ listContactEvents, readCalls: (query) => operator().readCalls(query) });
}
