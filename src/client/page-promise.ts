import type { Page } from "../contract/paging.js";

/** The first page when awaited, and every row of every page in `for await`. The first request is made at once. */
export type PagePromise<Row> = Promise<Page<Row>> & AsyncIterable<Row>;

/** Makes one. `fetchPage(undefined)` gives the first page; `refuse` the error for paging that leads nowhere. */
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
      // Ending here would pass off a part for the whole; going on would never end.
      if (cursor === null || cursor === "") throw refuse("The list says that it has more, without a nextCursor.");
      if (seen.has(cursor)) throw refuse("The list gives a nextCursor for the second time.");
      seen.add(cursor);
      page = await fetchPage(cursor);
    }
  }

  return Object.assign(first, { [Symbol.asyncIterator]: rows });
}
