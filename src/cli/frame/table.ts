import { stripVTControlCharacters } from "node:util";

/** Rows as aligned columns, two spaces apart; the header in dim text. Cells may contain colour. */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  dim: (text: string) => string,
): string {
  const lines = [header.map((name) => dim(name)), ...rows];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => width(line[column] ?? ""))));
  return lines
    .map((line) =>
      line
        .map((cell, column) => pad(cell, widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function pad(cell: string, to: number): string {
  return cell + " ".repeat(Math.max(0, to - width(cell)));
}

function width(cell: string): number {
  return Array.from(stripVTControlCharacters(cell)).length;
}
