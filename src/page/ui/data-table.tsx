import type { ComponentChildren } from "preact";
import { formatCount, formatExactTime, formatTime, shortText } from "../text/format.js";
import type { RowSelection } from "../state/create-selection.js";

/** One column of a table. */
export interface TableColumn<Row> {
  /** Empty for a column of buttons. */
  title: string;
  /**
   * Of its cells: `number`; `long` for texts that wrap; `wide` for the texts that share the room that is left, each cut
   * at its end. Where a row is a block: `plain` has no title there, `rest` shares a line with what is before it, and
   * `extra` is left out.
   */
  class?: string;
  /** True where the cell is the name of its row. @default false */
  isName?: boolean;
  cell: (row: Row) => ComponentChildren;
  /** More about a cell, for the pointer. */
  hint?: (row: Row) => string;
}

/** A column of times, each with the exact one for the pointer. */
export function timeColumn<Row>(title: string, timeOf: (row: Row) => string, kind?: "plain"): TableColumn<Row> {
  return {
    title,
    ...(kind === undefined ? {} : { class: kind }),
    cell: (row) => formatTime(timeOf(row)),
    hint: (row) => formatExactTime(timeOf(row)),
  };
}

interface DataTableOptions<Row> {
  label: string;
  columns: readonly (TableColumn<Row> | false)[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Said in place of a table without rows. */
  none?: string;
  /** True where a list around it scrolls: the headers stay at its top. */
  isInList?: boolean;
  /** For a list: the keys move through its rows, and a row may be opened. */
  list?: {
    /** Chooses rows, by their keys; false where nothing can be done with them. */
    selection?: RowSelection | false;
    /** The names of rows, for their check boxes. */
    nameOf?: (row: Row) => string;
    open?: (row: Row) => void;
    isOpen?: (row: Row) => boolean;
  };
}

/** A table that scrolls sideways where it has no room. On a phone each row is a block whose cells have their titles. */
export function DataTable<Row>(options: DataTableOptions<Row>) {
  const { label, columns, rows, keyOf, none, isInList = false, list } = options;
  if (rows.length === 0 && none !== undefined) return <p class="nothing">{none}</p>;
  const shown = columns.filter((column) => column !== false);
  const { selection = false, nameOf = keyOf, open, isOpen } = list ?? {};
  const own = { tabIndex: 0, role: "region", "aria-label": `${label}, scrolls sideways` } as const;
  return (
    <div class={isInList ? "" : "table-scroll"} {...(isInList ? {} : own)}>
      <table class="table data-table" aria-label={label}>
        <thead>
          <tr>
            {selection !== false && (
              <th scope="col" class="choose">
                <ChooseAll label={label} selection={selection} />
              </th>
            )}
            {shown.map(({ title, class: kind }) => (
              <th scope="col" key={title} class={kind}>
                {title === "" ? <span class="unseen">Actions</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const key = keyOf(row);
            return (
              <tr key={key} data-row={list && key} aria-current={isOpen?.(row)} onClick={() => open?.(row)}>
                {selection !== false && (
                  <td class="choose" onClick={(click) => click.stopPropagation()}>
                    <input
                      type="checkbox"
                      aria-label={`Choose ${nameOf(row)}`}
                      checked={selection.has(key)}
                      onClick={({ shiftKey }) => selection.toggle(key, shiftKey)}
                    />
                  </td>
                )}
                {shown.map((column) => (
                  <Cell key={column.title} column={column} row={row} />
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** On a phone, where no column has a title, its words are beside it. */
function ChooseAll({ label, selection }: { label: string; selection: RowSelection }) {
  const { isWhole, count, toggleAll } = selection;
  const all = `Choose all ${label.toLowerCase()}: ${formatCount(count())}`;
  return (
    <label title={all}>
      <input
        type="checkbox"
        aria-label={isWhole.value ? "Choose none" : all}
        checked={isWhole.value}
        onChange={toggleAll}
      />
      <span class="choose-words">Choose all {formatCount(count())}</span>
    </label>
  );
}

function Cell<Row>({ column, row }: { column: TableColumn<Row>; row: Row }) {
  const { title, class: kind, isName = false, cell, hint } = column;
  const Tag = isName ? "th" : "td";
  return (
    <Tag scope={isName ? "row" : undefined} class={kind} data-title={title} title={hint?.(row)}>
      {cell(row)}
    </Tag>
  );
}

/** The part of a view that scrolls and has its rows. */
export function ListRegion({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="dash-scroll dash-list" tabIndex={0} role="region" aria-label={label}>
      {children}
    </div>
  );
}

/** The subject of an event, and after it in grey whose mail it is. */
export function SubjectWords({ subject }: { subject: string }) {
  const [, words = subject, about] = /^(.*) · (.*?)$/.exec(subject) ?? [];
  return (
    <>
      {shortText(words)}
      {about !== undefined && <span class="hint"> · {shortText(about)}</span>}
    </>
  );
}
