import type { PagedList } from "../state/create-paged-list.js";

/** Reads the next page of a list, if there is one. */
export function MoreButton<Item>({ list: { nextCursor, isLoading, load } }: { list: PagedList<Item> }) {
  if (nextCursor.value === null) return null;
  return (
    <button type="button" class="button more" disabled={isLoading.value} onClick={() => void load(true)}>
      Show more
    </button>
  );
}
