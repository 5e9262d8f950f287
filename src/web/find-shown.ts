import { setImmediate } from "node:timers/promises";
import { PAGE_LIMIT } from "../store/inbox-view.js";
import type { RowPage } from "./api/event.js";

/** Rows that are listed together: few while they take long. */
const PAGE_ROWS = { first: 5, most: 50 };
const LONG_MS = 20;
/** Of one request, and the row that it is at then; the page asks for more. */
const MAX_SEARCH_MS = 250;

/** Rows to look at, as they are stored. */
export interface SearchedPage<View> extends RowPage<View> {
  /** Of each item in turn: goes on behind it. */
  cursors: readonly string[];
}

/** A search in what a person may see: what is not shown must not be found out by searching for it. */
export interface ShownSearch<View, Row> {
  list: (page: { limit: number; cursor: string | null | undefined }) => Promise<SearchedPage<View>>;
  cursor: string | null | undefined;
  /** The row as it is shown; undefined where it is not found. */
  look: (view: View) => Promise<Row | undefined>;
}

/**
 * A page of the rows that are found. It may be short, or empty, with a cursor. The event loop turns between two rows:
 * looking into a payload takes it for long, and deliveries come meanwhile.
 */
export async function findShown<View, Row>({
  list,
  cursor: from,
  look,
}: ShownSearch<View, Row>): Promise<RowPage<Row>> {
  const items: Row[] = [];
  const until = performance.now() + MAX_SEARCH_MS;
  const isOver = () => items.length >= PAGE_LIMIT.default || performance.now() >= until;
  let cursor = from ?? null;
  let limit = PAGE_ROWS.first;
  do {
    const startedAt = performance.now();
    const page = await list({ limit, cursor });
    cursor = page.nextCursor;
    for (const [index, view] of page.items.entries()) {
      const row = await look(view);
      if (row !== undefined) items.push(row);
      await setImmediate();
      if (!isOver()) continue;
      if (index + 1 < page.items.length) cursor = page.cursors[index] ?? null;
      break;
    }
    const isLong = performance.now() - startedAt >= LONG_MS;
    limit = isLong ? Math.max(Math.floor(limit / 2), PAGE_ROWS.first) : Math.min(2 * limit, PAGE_ROWS.most);
  } while (cursor !== null && !isOver());
  return { items, nextCursor: cursor };
}

/** True when one of the texts has the sought one, in any case of its letters. */
export function holdsText(texts: readonly (string | null | undefined)[], sought: string): boolean {
  const needle = sought.trim().toLowerCase();
  return texts.some((text) => text?.toLowerCase().includes(needle) === true);
}
