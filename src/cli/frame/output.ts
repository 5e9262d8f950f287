import { fstatSync, writeFileSync } from "node:fs";
import pc from "picocolors";
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
      if (json) write(`${JSON.stringify({ schemaVersion: SCHEMA_VERSION, ...record })}\n`);
      else if (text !== "") write(`${text}\n`);
    },
    raw: write,
    note(text) {
      if (!quiet && !json) stderr.write(`${text}\n`);
    },
    fail(error) {
      const { exitCode, code, message, stack } = describeError(error);
      if (json) stderr.write(`${JSON.stringify({ schemaVersion: SCHEMA_VERSION, error: { code, message } })}\n`);
      else stderr.write(`${errorPaint.red("error:")} ${message}\n${stack === "" ? "" : `${errorPaint.dim(stack)}\n`}`);
      return exitCode;
    },
  };
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
