import { type EventView, PAGE_LIMIT } from "../store/inbox-view.js";
import type { OutboxView } from "../store/outbox.js";
import { contactEventRow } from "./inbox-rows.js";

/** Rows that one search looks at. */
const MAX_SEARCHED = 5_000;

/** Rows to search in, a page after the other. */
export interface RowSearch<Row> {
  list: (page: { limit?: number; cursor: string | undefined }) => Promise<RowPage<Row>>;
  cursor?: string | undefined;
  text: string;
  /** The texts of a row that a search looks at. */
  textOf: (row: Row) => readonly string[];
}

export interface RowPage<Row> {
  items: Row[];
  nextCursor: string | undefined;
}

/**
 * A page of rows that hold the text, in any case of its letters. The page may be short, or empty, with a cursor: a
 * search looks at so many rows at once, and the page asks for more.
 */
export async function findRows<Row>({ list, cursor: from, text, textOf }: RowSearch<Row>): Promise<RowPage<Row>> {
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

/** What a search for an event looks at. */
export function textOfEvent({ id, type, handlers }: EventView): string[] {
  return [id, type, ...handlers.flatMap(({ handler, reason = "", error = "" }) => [handler, reason, error])];
}

/** What a search for a contact event looks at. */
export function textOfContactEvent(view: OutboxView): string[] {
  const { name, contact } = contactEventRow(view);
  const { key, reason = "", code = "", param = "", message = "", error = "" } = view;
  return [key, name, contact, reason, code, param, message, error];
}
