import type { Page } from "../contract/paging.js";

/** The first page when awaited, and every row of every page in `for await`. The first request is made at once. */
export type PagePromise<Row, OnePage extends Page<Row> = Page<Row>> = Promise<OnePage> & AsyncIterable<Row>;

/** `fetchPage(undefined)` gives the first page. `refuse` gives the error for paging that cannot continue. */
export function pagePromise<Row>(
  fetchPage: (cursor: string | undefined) => Promise<Page<Row>>,
  refuse: (message: string) => Error,
): PagePromise<Row> {
  const first = fetchPage(undefined);

  async function* rows(): AsyncGenerator<Row, void, undefined> {
    const seen = new Set<string>();
    for (let page = await first; ;) {
      yield* page.items;
      if (!page.hasMore) return;
      const cursor = page.nextCursor;
      // Ending here would present a part of the list as the whole list. Continuing would never end.
      if (cursor === null || cursor === "") throw refuse("The list says that it has more, without a nextCursor.");
      if (seen.has(cursor)) throw refuse("The list gives a nextCursor for the second time.");
      seen.add(cursor);
      page = await fetchPage(cursor);
    }
  }

  return Object.assign(first, { [Symbol.asyncIterator]: rows });
}
