/** Most rows of one page. */
const PAGE = 500;

/** All rows of a paged list, at most `limit`. */
export async function* allRows<Row>(
  limit: number,
  fetchPage: (query: {
    limit: number;
    cursor?: string | undefined;
  }) => Promise<{ items: Row[]; nextCursor: string | undefined }>,
): AsyncGenerator<Row> {
  let cursor: string | undefined;
  for (let left = limit; left > 0;) {
    const page = await fetchPage({ limit: Math.min(left, PAGE), cursor });
    yield* page.items;
    left -= page.items.length;
    cursor = page.nextCursor;
    if (cursor === undefined) return;
  }
}
