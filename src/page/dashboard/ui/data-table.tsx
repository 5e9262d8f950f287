import type { ComponentChildren } from "preact";

interface DataTableOptions {
  label: string;
  /** Titles; `#` before one is not shown and means numbers. An empty one is a column of buttons. */
  columns: readonly string[];
  /** The `<tr>`s. */
  children: ComponentChildren;
}

/** A table that scrolls sideways where it has no room. */
export function DataTable({ label, columns, children }: DataTableOptions) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label={`${label}, scrolls sideways`}>
      <table class="table" aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" key={column} class={column.startsWith("#") ? "number" : ""}>
                {column === "" ? <span class="unseen">Actions</span> : column.replace(/^#/, "")}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
