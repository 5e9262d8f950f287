import { fstatSync, writeFileSync } from "node:fs";
import pc from "picocolors";
import { escapeControls } from "../../base/escape-controls.js";
import { describeError } from "./command-error.js";
import type { ExitCode } from "./exit-code.js";

/** Colours, or none. */
export type Paint = ReturnType<typeof pc.createColors>;

/** Version of the lines that `--json` gives; goes up when a field is removed or changes its meaning. */
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
  /** True where standard output is a terminal and lines are for a person. */
  readonly isTerminal: boolean;
  readonly paint: Paint;
  /** One result: a JSON line with `--json`, the text otherwise. */
  result(record: Record<string, unknown>, text: string): void;
  /** Bytes that are the result themselves, such as an export; never wrapped in JSON. */
  raw(text: string | Uint8Array): void;
  /** A remark for a person; nothing with `--quiet` or `--json`. */
  note(text: string): void;
  /** Says what went wrong and gives the exit code. */
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
      else if (text !== "") write(`${printable(text)}\n`);
    },
    raw: write,
    note(text) {
      if (!quiet && !json) stderr.write(`${printable(text)}\n`);
    },
    fail(error) {
      const { exitCode, code, message, stack } = describeError(error);
      const trace = stack === "" ? "" : `\n${errorPaint.dim(stack)}`;
      if (json) stderr.write(jsonLine({ error: { code, message } }));
      else stderr.write(`${printable(`${errorPaint.red("error:")} ${message}${trace}`)}\n`);
      return exitCode;
    },
  };
}

/** Within JSON an escaped character is the same character. */
function jsonLine(record: Record<string, unknown>): string {
  return `${escapeControls(JSON.stringify({ schemaVersion: SCHEMA_VERSION, ...record }))}\n`;
}

/** Line ends, and the colours that {@link Paint} writes. */
// oxlint-disable-next-line no-control-regex -- a colour begins with the control character ESC
const LAYOUT = /(\n|\u001b\[\d+m)/;

/** Whatever of a text came from outside may not move the cursor, hide or turn round what is printed. */
function printable(text: string): string {
  return text
    .split(LAYOUT)
    .map((piece) => (LAYOUT.test(piece) ? piece : escapeControls(piece)))
    .join("");
}

/** Where standard output is a file: a stream of Node's counts a part that found room on the disk as the whole. */
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

/** False also for a descriptor that there is not, as in a program without a console. */
function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
}

/** Node leaves `isTTY` out where there is no terminal, and picocolors would take undefined for "guess", which is yes under CI. */
function isTerminal(stream: { isTTY?: boolean }): boolean {
  return stream.isTTY ?? false;
}

/** NO_COLOR and FORCE_COLOR by their conventions; otherwise colour is for terminals. */
function wantsColor(env: NodeJS.ProcessEnv, stream: NodeJS.WriteStream): boolean {
  if ((env["NO_COLOR"] ?? "") !== "") return false;
  const force = env["FORCE_COLOR"] ?? "";
  if (force !== "") return force !== "0";
  return isTerminal(stream) && env["TERM"] !== "dumb";
}
