import { formatTable } from "./format.js";
import type { Output } from "./output.js";

/** How rows are printed: each as a JSON line with `--json`, and otherwise all as a table. */
export interface RowsView<Row> {
  columns: readonly string[];
  record: (row: Row) => Record<string, unknown>;
  cells: (row: Row) => readonly string[];
  /** The remark where there are none. */
  none?: string;
}

/** Prints the rows of a list. */
export async function printRows<Row>(
  out: Output,
  rows: AsyncIterable<Row> | Iterable<Row>,
  { columns, record, cells, none = "" }: RowsView<Row>,
): Promise<void> {
  const lines: (readonly string[])[] = [];
  for await (const row of rows) {
    if (out.isJson) out.result(record(row), "");
    else lines.push(cells(row));
  }
  if (out.isJson) return;
  if (lines.length === 0) out.note(none);
  else out.result({}, formatTable(columns, lines, out.paint.dim));
}
