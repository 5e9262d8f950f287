import { useState } from "preact/hooks";
import { countRows, focusRowAt } from "./row-cursor.js";
import type { PagedList } from "../state/create-paged-list.js";

/** Reads the next page of a list, if there is one. The focus goes on with the first row of that. */
export function MoreButton<Item>({ list: { nextCursor, load } }: { list: PagedList<Item> }) {
  const [isReading, setReading] = useState(false);
  if (nextCursor.value === null) return null;
  const showMore = async (button: HTMLElement) => {
    const listed = countRows();
    setReading(true);
    await load(true);
    setReading(false);
    const { activeElement } = document;
    if (activeElement === button || activeElement === document.body) focusRowAt(listed);
  };
  return (
    <button
      type="button"
      class="button more"
      // A button that is disabled loses the focus.
      aria-disabled={isReading}
      onClick={({ currentTarget }) => void (isReading || showMore(currentTarget))}
    >
      Show more
    </button>
  );
}
