import { signal } from "@preact/signals";
import { reportProblem } from "./notice.js";

/** Pages that are read again. Of a search, each may take its time. */
const MAX_REFRESHED = 10;

/** A list that is read page by page. */
export type PagedList<Item> = ReturnType<typeof createPagedList<Item>>;

interface ListPage<Item> {
  items: readonly Item[];
  nextCursor: string | null;
}

/**
 * @param read Reads the page at a cursor, which is empty for the first one.
 * @param keyOf What an item is listed by once, where pages may have one again. Default: no page has.
 */
export function createPagedList<Item>(
  read: (cursor: string) => Promise<ListPage<Item>>,
  keyOf: (item: Item) => unknown = (item) => item,
) {
  const items = signal<readonly Item[]>([]);
  /** Cursor of the next page; null on the last one. */
  const nextCursor = signal<string | null>(null);
  /** False until the first answer. */
  const isLoaded = signal(false);
  let pages = 0;
  let last = 0;
  let isReading = false;

  /** Reads so many pages after those that are kept. */
  async function readPages(kept: { items: readonly Item[]; pages: number; cursor: string }, count: number) {
    const call = ++last;
    isReading = true;
    try {
      const all = new Map(kept.items.map((item) => [keyOf(item), item]));
      let cursor: string | null = kept.cursor;
      let done = 0;
      for (; done < count && cursor !== null; done += 1) {
        const page: ListPage<Item> = await read(cursor);
        if (call !== last) return;
        for (const item of page.items) if (!all.has(keyOf(item))) all.set(keyOf(item), item);
        cursor = page.nextCursor;
      }
      items.value = [...all.values()];
      nextCursor.value = cursor;
      isLoaded.value = true;
      pages = kept.pages + done;
    } catch (error) {
      if (call === last) reportProblem(error);
    } finally {
      if (call === last) isReading = false;
    }
  }

  const none = { items: [], pages: 0, cursor: "" };
  return {
    items,
    nextCursor,
    isLoaded,
    /** Reads the first page, with `isMore` the next one. A call that ends late does not replace a later one. */
    load: (isMore = false) =>
      readPages(isMore ? { items: items.value, pages, cursor: nextCursor.value ?? "" } : none, 1),
    /** Reads as many pages again as are listed, unless they are many or a page is being read. */
    refresh: () => (isReading || pages > MAX_REFRESHED ? Promise.resolve() : readPages(none, Math.max(1, pages))),
  };
}
