import { fstatSync, writeFileSync } from "node:fs";
import pc from "picocolors";
import { escapeControls } from "../../base/text.js";
import { describeError, type ExitCode } from "./command-error.js";
import { formatTable } from "./format.js";

/** Colours, or none. */
export type Paint = ReturnType<typeof pc.createColors>;

/** Version of the lines of `--json`. It increases when a field is removed or changes its meaning. */
export const SCHEMA_VERSION = 1;

export interface OutputOptions {
  json: boolean;
  quiet: boolean;
  /** Whether colour may be used at all. */
  color: boolean;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
  env: NodeJS.ProcessEnv;
}

/** Everything that a command prints. Results go to standard output, remarks and errors to standard error. */
export interface Output {
  readonly isJson: boolean;
  /** True if standard output is a terminal and lines are for a person. */
  readonly isTerminal: boolean;
  readonly paint: Paint;
  /** One result: a JSON line with `--json`, the text otherwise. */
  result(record: Record<string, unknown>, text: string): void;
  /** Bytes that are the result, such as an export; never wrapped in JSON. */
  raw(text: string | Uint8Array): void;
  /** A remark for a person; nothing with `--quiet` or `--json`. */
  note(text: string): void;
  /** Prints an error and returns the exit code. */
  fail(error: unknown): ExitCode;
}

export function createOutput(options: OutputOptions): Output {
  const { json, quiet, stdout, stderr, env } = options;
  const paint = pc.createColors(options.color && wantsColor(env, stdout));
  const write = writerOf(stdout);
  const errorPaint = pc.createColors(options.color && wantsColor(env, stderr));

  return {
    isJson: json,
    isTerminal: !json && isTerminal(stdout),
    paint,
    result(record, text) {
      if (json) write(jsonLine(record));
      else if (text !== "") write(`${printable(text, paint)}\n`);
    },
    raw: write,
    note(text) {
      if (!quiet && !json) stderr.write(`${printable(text, paint)}\n`);
    },
    fail(error) {
      const { exitCode, code, message, stack = "" } = describeError(error);
      const trace = stack === "" ? "" : `\n${errorPaint.dim(escapeLines(stack))}`;
      if (json) stderr.write(jsonLine({ error: { code, message } }));
      else stderr.write(`${errorPaint.red("error:")} ${escapeLines(message)}${trace}\n`);
      return exitCode;
    },
  };
}

/** In JSON an escaped character is the same character. */
function jsonLine(record: Record<string, unknown>): string {
  return `${escapeControls(JSON.stringify({ schemaVersion: SCHEMA_VERSION, ...record }))}\n`;
}

/** Bold, dim, red, green and yellow, and their ends: what this program writes with {@link Paint}. */
// oxlint-disable-next-line no-control-regex -- a colour begins with the control character ESC
const COLOUR = /(\u001b\[(?:1|2|22|31|32|33|39)m)/;

/**
 * Untrusted text must not move the cursor, or hide or reverse what is printed. Of colours, the program's own stay, and
 * none if it writes without.
 */
function printable(text: string, paint: Paint): string {
  if (!paint.isColorSupported) return escapeLines(text);
  return text
    .split(COLOUR)
    .map((piece) => (COLOUR.test(piece) ? piece : escapeLines(piece)))
    .join("");
}

/** Escapes all control characters but line ends. */
function escapeLines(text: string): string {
  return text.split("\n").map(escapeControls).join("\n");
}

/** If standard output is a file: Node's stream treats a partial write on a full disk as complete. */
function writerOf(stdout: NodeJS.WriteStream & { fd?: number }): (text: string | Uint8Array) => void {
  const { fd } = stdout;
  if (fd === undefined || !isFile(fd)) return (text) => void stdout.write(text);
  return (text) => {
    try {
      writeFileSync(fd, text);
    } catch (error) {
      stdout.emit("error", error);
    }
  };
}

/** False also for a missing descriptor, as in a program without a console. */
function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
}

/** Without a terminal Node leaves `isTTY` undefined. picocolors would then guess, which gives colour in CI. */
function isTerminal(stream: { isTTY?: boolean }): boolean {
  return stream.isTTY ?? false;
}

/** Follows the conventions of NO_COLOR and FORCE_COLOR; otherwise colour is for terminals. */
function wantsColor(env: NodeJS.ProcessEnv, stream: NodeJS.WriteStream): boolean {
  if ((env["NO_COLOR"] ?? "") !== "") return false;
  const force = env["FORCE_COLOR"] ?? "";
  if (force !== "") return force !== "0";
  return isTerminal(stream) && env["TERM"] !== "dumb";
}

/** How rows are printed: each as a JSON line with `--json`, and otherwise all as a table. */
interface RowsView<Row> {
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
