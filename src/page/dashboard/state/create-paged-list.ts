import { signal, type Signal } from "@preact/signals";
import type { PreparingState } from "../../../dashboard/api/preparing.js";
import { reportProblem } from "../../state/notice.js";

/** A list that is read page by page. */
export interface PagedList<Item> {
  items: Signal<readonly Item[]>;
  /** False until the first answer. */
  isLoaded: Signal<boolean>;
  /** True while texts of the last page that was read are being redacted. */
  isPreparing: Signal<boolean>;
  /** Cursor of the next page; null on the last one. */
  nextCursor: Signal<string | null>;
  /** Reads the first page, with `isMore` the next one. An earlier call that ends late does not replace a later one. */
  load: (isMore?: boolean) => Promise<void>;
}

interface ListPage<Item> extends PreparingState {
  items: readonly Item[];
  nextCursor: string | null;
}

/** @param read Reads the page at a cursor, which is empty for the first one. */
export function createPagedList<Item>(read: (cursor: string) => Promise<ListPage<Item>>): PagedList<Item> {
  const items = signal<readonly Item[]>([]);
  const nextCursor = signal<string | null>(null);
  const isLoaded = signal(false);
  const isPreparing = signal(false);
  let last = 0;
  return {
    items,
    nextCursor,
    isLoaded,
    isPreparing,
    async load(isMore = false) {
      const call = ++last;
      try {
        const page = await read(isMore ? (nextCursor.value ?? "") : "");
        if (call !== last) return;
        items.value = isMore ? [...items.value, ...page.items] : page.items;
        nextCursor.value = page.nextCursor;
        isPreparing.value = page.isPreparing === true;
        isLoaded.value = true;
      } catch (error) {
        if (call === last) reportProblem(error);
      }
    },
  };
}
