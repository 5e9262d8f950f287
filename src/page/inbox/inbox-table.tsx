import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Empty } from "../ui/empty.js";
import { areAllRowsChosen, inboxRowId, toggleAllRows, toggleChosenRow } from "./inbox-selection.js";
import { chosenRows, cursorRow, inboxState, isNarrowed, loadInbox, nextCursor, openRow } from "./inbox-state.js";

interface InboxTableProps {
  /** Label of the table for screen readers. */
  label: string;
  /** What it lists, for the styles. */
  class: string;
  isEmpty: boolean;
  /** Title if there is nothing in any state. */
  emptyTitle: string;
  emptyText: string;
  /** What all rows are, for screen readers, such as `12 events`. */
  rows: string;
  /** Class and title of each column behind that of the boxes; the last one has no class. */
  columns: readonly (readonly [className: string | undefined, title: string])[];
  /** The `<tr>`s. */
  children: ComponentChildren;
}

/** A table of the inbox in the chosen state, page by page. */
export function InboxTable(props: InboxTableProps) {
  const { label, class: className, isEmpty, emptyTitle, emptyText, rows, columns, children } = props;
  const cursor = cursorRow.value;
  useEffect(() => {
    document.querySelector(`#${CSS.escape(inboxRowId(cursor))}`)?.scrollIntoView({ block: "nearest" });
  }, [cursor]);
  if (isEmpty) {
    return (
      <Empty title={title(emptyTitle)}>
        {isNarrowed.value ? <p>Show all, or search for less.</p> : <p>{emptyText}</p>}
        <More />
      </Empty>
    );
  }
  return (
    <div class="table-side">
      <table class={`table ${className}`} aria-label={label}>
        <thead>
          <tr>
            <ChooseAllCell what={rows} />
            {columns.map(([columnClass, name]) => (
              <th scope="col" class={columnClass} key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
      <More />
    </div>
  );
}

/** Classes of a row: open in the pane, at the cursor. */
export function rowClass(row: string): string {
  const classes = [row === openRow.value && "shown", row === cursorRow.value && "cursor"];
  return classes.filter((name) => name !== false).join(" ");
}

/** The box that chooses a row. `what`: the row, for screen readers. */
export function ChooseCell({ row, what }: { row: string; what: string }) {
  return (
    <td class="choose">
      <input
        type="checkbox"
        aria-label={`Choose ${what}`}
        checked={chosenRows.value.has(row)}
        onClick={(click) => click.stopPropagation()}
        onChange={() => toggleChosenRow(row)}
      />
    </td>
  );
}

/** The head of the column of boxes. `what`: all rows, such as `12 events`. */
function ChooseAllCell({ what }: { what: string }) {
  const areAllChosen = areAllRowsChosen();
  return (
    <th scope="col" class="choose">
      <input
        type="checkbox"
        aria-label={areAllChosen ? "Choose none" : `Choose all ${what}`}
        checked={areAllChosen}
        onChange={toggleAllRows}
      />
    </th>
  );
}

function title(emptyTitle: string): string {
  if (isNarrowed.value) return nextCursor.value === null ? "Nothing matches" : "Nothing found so far";
  return inboxState.value === "" ? emptyTitle : `Nothing is ${inboxState.value}`;
}

/** The next page; a search goes on with it. */
function More() {
  if (nextCursor.value === null) return null;
  return (
    <button type="button" class="button more" onClick={() => void loadInbox({ isMore: true })}>
      {isNarrowed.value ? "Search further" : "Show more"}
    </button>
  );
}
