import { PAGE_LIMIT } from "../store/inbox-view.js";
import type { RowPage, RowSearch } from "../dev/api/find-rows.js";

/** Rows whose payloads are read together. */
const PAGE_ROWS = 50;
/** Of one request; the page asks for more. */
const MAX_SEARCH_MS = 300;

/**
 * As `findRows`, in payloads too, as far as they may be shown: `payloadOf` gives the redacted text. The page may be
 * short, or empty, with a cursor.
 */
export async function findInPayloads<Row>(
  { list, cursor: from, text, textOf }: RowSearch<Row>,
  payloadOf: (row: Row) => Promise<string | undefined>,
): Promise<RowPage<Row>> {
  const needle = text.trim().toLowerCase();
  const isIn = (found: string | undefined): boolean => found?.toLowerCase().includes(needle) === true;
  const items: Row[] = [];
  const until = performance.now() + MAX_SEARCH_MS;
  let cursor = from;
  do {
    const page = await list({ limit: PAGE_ROWS, cursor });
    for (const row of page.items) if (isIn(textOf(row).join("\n")) || isIn(await payloadOf(row))) items.push(row);
    cursor = page.nextCursor;
  } while (cursor !== undefined && items.length < PAGE_LIMIT.default && performance.now() < until);
  return { items, nextCursor: cursor };
}
