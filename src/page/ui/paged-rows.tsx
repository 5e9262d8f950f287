import { ListRegion } from "./data-table.js";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { readParam } from "../state/address.js";
import type { PagedList } from "../state/create-paged-list.js";
import type { RowSelection } from "../state/create-selection.js";
import { Button } from "./button.js";
import { Empty } from "./empty.js";
import { countRows, focusRowAt } from "./row-cursor.js";
import { useListRefresh } from "./use-list-refresh.js";

interface PagedRowsOptions<Item> {
  label: string;
  list: PagedList<Item>;
  /** Parameters of the address that narrow it, beside the state; when one changes, no row is chosen any more. */
  params: readonly string[];
  /** When this changes, it is read again too. */
  again?: unknown;
  /** Said of a list that has nothing and is not narrowed. */
  none: { title: string; text?: string };
  /** The list is not read again while rows of it are chosen. */
  selection?: RowSelection;
  /** The rows. */
  children: ComponentChildren;
}

/** A list as far as it was read, in the part of a view that scrolls. */
export function PagedRows<Item>(options: PagedRowsOptions<Item>) {
  const { label, list, params, again, none, selection, children } = options;
  const state = readParam("state");
  const asked = [state, ...params.map(readParam)].join("\n");
  const isNarrowed = params.some((name) => readParam(name) !== "");
  useEffect(() => selection?.keepFor(asked), [asked]);
  useListRefresh(
    (isAgain) => void (isAgain ? list.refresh() : list.load()),
    [asked, again],
    () => (selection?.inSight.value.length ?? 0) > 0,
  );
  return (
    <ListRegion label={label}>
      {!list.isLoaded.value && <p class="hint dash-loading">Loading…</p>}
      {list.isLoaded.value && list.items.value.length > 0 && (
        <>
          {children}
          <MoreButton list={list} />
        </>
      )}
      {list.isLoaded.value && list.items.value.length === 0 && (
        <Empty title={isNarrowed ? "Nothing matches" : state === "" ? none.title : `Nothing is ${state}`}>
          {isNarrowed && (
            <p>{list.nextCursor.value === null ? "Show all, or ask for less." : "Search further below."}</p>
          )}
          {!isNarrowed && state === "" && none.text !== undefined && <p>{none.text}</p>}
          <MoreButton list={list} />
        </Empty>
      )}
    </ListRegion>
  );
}

/** Reads the next page of a list, if there is one. The focus goes on with the first row of that. */
function MoreButton<Item>({ list: { nextCursor, load } }: { list: PagedList<Item> }) {
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
    <Button
      label="Show more"
      class="more"
      // A button that is disabled loses the focus.
      aria-disabled={isReading}
      onClick={({ currentTarget }) => void (isReading || showMore(currentTarget))}
    />
  );
}
