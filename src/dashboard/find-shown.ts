import { setImmediate } from "node:timers/promises";
import type { RowPage } from "../dev/api/find-rows.js";
import { PAGE_LIMIT } from "../store/inbox-view.js";

/** Rows that are looked at together: few while they take long. */
const PAGE_ROWS = { first: 5, most: 50 };
const LONG_MS = 20;
/** Of one request; the page asks for more. */
const MAX_SEARCH_MS = 250;

/** Rows as a person may see them: what is not shown must not be found out by searching for it. */
export interface ShownSearch<Row> {
  list: (page: { limit?: number; cursor: string | undefined }) => Promise<RowPage<Row>>;
  cursor: string | undefined;
  isFound: (row: Row) => boolean | Promise<boolean>;
}

/**
 * A page of the rows that are found. It may be short, or empty, with a cursor. The event loop turns between two rows:
 * looking into a payload takes it for long, and deliveries come meanwhile.
 */
export async function findShown<Row>({ list, cursor: from, isFound }: ShownSearch<Row>): Promise<RowPage<Row>> {
  const items: Row[] = [];
  const until = performance.now() + MAX_SEARCH_MS;
  let cursor = from;
  let limit = PAGE_ROWS.first;
  do {
    const startedAt = performance.now();
    const page = await list({ limit, cursor });
    for (const row of page.items) {
      if (await isFound(row)) items.push(row);
      await setImmediate();
    }
    cursor = page.nextCursor;
    const isLong = performance.now() - startedAt >= LONG_MS;
    limit = isLong ? Math.max(Math.floor(limit / 2), PAGE_ROWS.first) : Math.min(2 * limit, PAGE_ROWS.most);
  } while (cursor !== undefined && items.length < PAGE_LIMIT.default && performance.now() < until);
  return { items, nextCursor: cursor };
}

/** True when one of the texts has the sought one, in any case of its letters. */
export function holdsText(texts: readonly (string | null | undefined)[], sought: string): boolean {
  const needle = sought.trim().toLowerCase();
  return texts.some((text) => text?.toLowerCase().includes(needle) === true);
}
