/** An aligned text table: the first column to the left, all others to the right. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const formatRow = (row: readonly string[]): string =>
    widths
      .map((width, column) => (column === 0 ? (row[column] ?? "").padEnd(width) : (row[column] ?? "").padStart(width)))
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  return [formatRow(header), rule, ...rows.map(formatRow)].join("\n");
}

/** A number with so many digits after the point; a dash when there is none. */
export function formatNumber(value: number | undefined, digits: number): string {
  if (value === undefined || !Number.isFinite(value)) return "-";
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A share (0 to 1) as whole per cent. */
export function formatPercent(share: number): string {
  return Number.isFinite(share) ? `${formatNumber(share * 100, 0)} %` : "-";
}

export function printTitle(title: string): void {
  process.stdout.write(`\n${title}\n${"=".repeat(title.length)}\n`);
}

export function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Says what runs now, on stderr, so that a redirected report stays clean. */
export function printProgress(line: string): void {
  process.stderr.write(`… ${line}\n`);
}
