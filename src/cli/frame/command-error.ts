import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { PigeonholeError, isPigeonholeError } from "../../base/error.js";

/** Why a command failed, for a person: what happened, and what to do. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: ExitCode;
  /** Shown in `--json` errors. */
  readonly code: string;

  constructor(exitCode: ExitCode, code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
    this.code = code;
  }
}

/** The command line cannot be used. */
export function usageError(message: string): CommandError {
  return new CommandError(EXIT.usage, "usage", message);
}

/** Does the work; a value that it refuses becomes an error of the command line, in the words of `say`. */
export function refusedAs<Result>(say: (message: string) => string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw isPigeonholeError(error) ? usageError(say(error.message)) : error;
  }
}

/** An error as it is printed. */
export interface PrintedError {
  exitCode: ExitCode;
  code: string;
  message: string;
  /** Stack frames, for a bug in this package. */
  stack?: string;
}

/** Error codes of the package for mistakes of the caller. */
const USAGE_CODES: ReadonlySet<string> = new Set([
  "invalid_option",
  "invalid_argument",
  "invalid_secret",
  "not_a_pigeonhole_database",
  "schema_too_new",
  "invalid_capture",
  "invalid_query",
  "no_capture",
  "port_in_use",
  "folder_not_empty",
]);

/** Error codes for a failure of an app, a service or a disk. */
const CAUSED_ELSEWHERE =
  /^(?:no_answer|invalid_answer|answer_too_large|redirect_refused|tunnel_failed|store_\w+|sqlite_too_old|driver_unusable)$/;

/** System errors in words; their own messages contain codes such as `ENOENT`. */
const SYSTEM_ERRORS: Record<string, string> = {
  ENOENT: "does not exist",
  EACCES: "may not be opened or written by this user: permissions forbid it",
  EPERM: "may not be changed by this user; perhaps it belongs to another",
  EROFS: "cannot be written: its file system is read-only",
  ENOSPC: "cannot be written: the disk is full",
  EFBIG: "cannot be written: it would be larger than this user's files may be",
  EEXIST: "is there already",
  ENAMETOOLONG: "has too long a name",
  EISDIR: "is a folder",
  ENOTDIR: "is not in a folder",
  EADDRINUSE: "is in use by another program; choose another with the option for the port",
};

/** Gives the exit code and message for an error. */
export function describeError(error: unknown): PrintedError {
  if (error instanceof CommandError) {
    return { exitCode: error.exitCode, code: error.code, message: error.message };
  }
  if (!(error instanceof Error)) return { exitCode: EXIT.failed, code: "internal_error", message: "Failed." };
  // An answer of the service; its code is not in this package's list.
  if ("status" in error && "code" in error) {
    return { exitCode: EXIT.unreachable, code: String(error.code), message: error.message };
  }
  if (error.name === "InvalidInputError" && "code" in error) {
    return { exitCode: EXIT.usage, code: String(error.code), message: error.message };
  }
  if (error instanceof PigeonholeError) {
    return { exitCode: exitCodeOf(error.code), code: error.code, message: error.message };
  }
  return systemError(error) ?? bug(error);
}

function exitCodeOf(code: string): ExitCode {
  if (USAGE_CODES.has(code)) return EXIT.usage;
  return CAUSED_ELSEWHERE.test(code) ? EXIT.unreachable : EXIT.failed;
}

function systemError(error: NodeJS.ErrnoException): PrintedError | undefined {
  const words = SYSTEM_ERRORS[error.code ?? ""];
  if (words === undefined) return undefined;
  const { code = "", path } = error;
  // For a file to be written, "does not exist" can only mean its folder.
  const isLost = code === "ENOENT" && path !== undefined && !existsSync(dirname(path));
  const what = path ?? ("port" in error ? `Port ${String(error.port)}` : "A file");
  const message = isLost ? `The folder of ${path} does not exist; make it first.` : `${what} ${words}.`;
  return { exitCode: EXIT.usage, code, message };
}

/** With the stack, without the message above it. */
function bug({ name, message, stack = "" }: Error): PrintedError {
  const frames = stack.split("\n").filter((line) => /^ {4}at /.test(line));
  return { exitCode: EXIT.failed, code: "internal_error", message: `${name}: ${message}`, stack: frames.join("\n") };
}

/** Exit codes of the process, the same for every command. */
export const EXIT = {
  ok: 0,
  /** An assertion or a verification failed: the command did its work, and the result is negative. */
  failed: 1,
  /** The command line, a file or a setting cannot be used; nothing was done. */
  usage: 2,
  /** The target cannot be reached, or the service answered with an error. */
  unreachable: 3,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
