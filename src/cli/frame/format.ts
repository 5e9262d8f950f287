import { stripVTControlCharacters } from "node:util";
import { escapeControls } from "../../base/text.js";
import { DAY, HOUR, MINUTE, SECOND } from "../../base/duration.js";

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

/** Text of a body for a terminal: indented if it is JSON, one line otherwise, with control characters escaped. */
export function formatJson(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2).split("\n").map(escapeControls).join("\n");
  } catch {
    return escapeControls(body);
  }
}

/** The first characters of a text that others wrote, without any that moves the cursor or hides text. */
export function clip(untrusted: string, most: number): string {
  const characters = Array.from(escapeControls(untrusted.slice(0, 2 * most)));
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : characters.join("");
}

/** How long ago, in one unit: `12 s`, `3 h`. */
export function age(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.round(ms / SECOND))} s`;
  if (ms < HOUR) return `${Math.round(ms / MINUTE)} min`;
  return ms < DAY ? `${Math.round(ms / HOUR)} h` : `${Math.round(ms / DAY)} d`;
}

/** `1 capture`, `3 captures`. */
export function countOf(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}
