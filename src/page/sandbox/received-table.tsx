import type { ComponentChildren } from "preact";

interface ReceivedTableOptions {
  title: string;
  columns: readonly string[];
  isEmpty: boolean;
  /** Shown instead of a table without rows. */
  emptyText: string;
  /** The `<tr>`s. */
  children: ComponentChildren;
}

/** A panel with one list of what the sandbox's API received. */
export function ReceivedTable({ title, columns, isEmpty, emptyText, children }: ReceivedTableOptions) {
  return (
    <section class="sandbox-panel" aria-label={title}>
      <h2>{title}</h2>
      {isEmpty ? (
        <p class="nothing">{emptyText}</p>
      ) : (
        <table class="table" aria-label={title}>
          <thead>
            <tr>
              {columns.map((column) => (
                <th scope="col" key={column}>
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      )}
    </section>
  );
}
