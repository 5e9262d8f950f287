import type { ComponentChildren } from "preact";

interface DataTableOptions {
  label: string;
  /** Titles; `#` before one is not shown and means numbers. An empty one is a column of buttons. */
  columns: readonly string[];
  /** The `<tr>`s. */
  children: ComponentChildren;
}

/** A table that scrolls sideways where it has no room. On a phone each row is a block whose cells have their titles. */
export function DataTable({ label, columns, children }: DataTableOptions) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label={`${label}, scrolls sideways`}>
      <table class="table data-table" aria-label={label} style={titlesOf(columns)}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" key={column} class={column.startsWith("#") ? "number" : ""}>
                {column === "" ? <span class="unseen">Actions</span> : titleOf(column)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function titleOf(column: string): string {
  return column.replace(/^#/, "");
}

/** The titles as the style sheet reads them, by the number of their column. */
function titlesOf(columns: readonly string[]): Record<string, string> {
  return Object.fromEntries(columns.map((column, place) => [`--title-${place + 1}`, JSON.stringify(titleOf(column))]));
}
