/** Every error code of the package, with its meaning. */
export const ERROR_CODES = {
  invalid_option: "An option given at creation cannot be used; the message names it.",
  invalid_secret: "A webhook secret is empty, too short, or visibly not a webhook secret.",
  invalid_argument: "A function was called with something it cannot use.",
  already_started: "The receiver was changed after start(), when its handlers are fixed.",
  duplicate_handler: "Two handlers were registered under one name.",
  stopped: "The receiver or its store was stopped. It accepts no more work.",
  schema_too_new: "The database was written by a newer version of this package.",
  schema_too_old:
    "The tables in the database are missing or older than this version needs, and the store or the command may not change them; the message says what to do.",
  not_a_pigeonhole_database:
    "The database file or the schema belongs to another program, or the file is not a SQLite database.",
  store_not_durable: "The database does not have, or did not accept, the settings that make a commit durable.",
  sqlite_too_old: "The SQLite library is older than 3.51.3, which fixes a corruption of WAL files.",
  driver_unusable:
    "The installed better-sqlite3 does not fit this Node, its native module is missing, or PostgreSQL's driver pg is not installed. The message says what to install.",
  store_busy: "The database stayed locked by another process, or too much waits for the disk.",
  store_full: "The disk or the database is full.",
  store_failed: "The database answered with an error; the message holds the code of SQLite or PostgreSQL.",
  store_corrupt: "The database is damaged; the message says what to do.",
  store_replaced: "The files of the database were moved or replaced, or another SQLite of the process has them open.",
  store_unreachable: "The database server does not answer, or takes no connections at the moment.",
  store_not_primary: "The database server is a replica, or takes no writes at the moment.",
  server_unusable:
    "The database server is too old, refuses the user, or is set up in a way that cannot keep all events; the message says how.",
  lease_lost: "The run took longer than its lease; another worker may have the work now, so nothing was written.",
  commit_twice: "ctx.commit was called twice in one run.",
  commit_async: "The function given to ctx.commit, setup or read returned a promise; on SQLite it must be synchronous.",
  transaction_ended:
    "The SQL given to tx.db or tx.client, or a statement that failed and whose error was caught, ended the transaction of ctx.commit or setup, or nothing was done in it for too long; nothing was written.",
  transaction_closed: "A transaction's database or client was used after ctx.commit, setup or read had ended.",
  duplicate_step: "ctx.step was called twice with one name in one run.",
  step_not_json: "The value of a step cannot be kept as JSON, or is too large.",
  wait_timeout:
    "The attempt or event that was waited for did not arrive in time. The message says what arrived instead.",
  handler_timeout: "A handler took longer than its timeoutMs.",
  run_ended: "A contact event was recorded after the handler's run had ended, so it was not stored.",
  not_found: "No event with that id is in the inbox.",
  body_dropped: "The event's body was dropped by retention or erased, so it cannot be handled again.",
  port_in_use: "The port is in use by another program.",
  tunnel_failed: "The tunnel program is not installed, ended, or showed no public URL in time.",
  no_answer: "The API did not answer: no connection, a timeout, or an answer that was cut off.",
  invalid_answer: "The API answered with something that is not JSON or does not fit the operation.",
  answer_too_large: "The API's answer was over the limit and was not read to its end.",
  redirect_refused:
    "The API answered with a redirect. Redirects are not followed, since that would send the key to another URL.",
  unknown_error: "The API answered with an error that names no code.",
  api_not_configured: "ctx.api, contact events and receiver.repair need the option api of createReceiver.",
  api_key_lost: "The API key that was to be rotated does not work; the message says what to do.",
  key_conflict: "The idempotency key was already used for another contact event.",
  invalid_capture: "A file or an import is no capture; the message names the field.",
  invalid_query: "A search over captures cannot be read; the message names the term and what is allowed.",
  no_capture: "No capture has that id, or several begin with it.",
  captures_failed: "Replayed captures were not answered as expected; the message lists them.",
  folder_not_empty: "The target folder of a new project has files already.",
  program_failed:
    "A program that was started, such as a package manager, is not installed or failed; the message has its last lines.",
} as const;

/** The `code` of an error of this package. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** Codes whose messages quote a value that the app passed: a step's name, a key, an id, an argument or an option. */
const QUOTING_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  "invalid_option",
  "invalid_argument",
  "duplicate_step",
  "step_not_json",
  "lease_lost",
  "not_found",
  "key_conflict",
]);

/**
 * Base of all errors of this package. `code` is safe to compare: one of {@link ERROR_CODES}, or in errors of the API
 * client the code that the service gave.
 */
export class PigeonholeError<Code extends string = ErrorCode> extends Error {
  override readonly name: string = "PigeonholeError";
  /** Says what happened; safe to compare. */
  readonly code: Code;

  constructor(code: NoInfer<Code>, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** True if the message may quote a value of the app or of the service, such as an address. Logs leave it out then. */
  get mayQuote(): boolean {
    return QUOTING_CODES.has(this.code);
  }
}

/** True for an error of this package, optionally of one code. */
export function isPigeonholeError(error: unknown): error is PigeonholeError<string>;
export function isPigeonholeError<Code extends ErrorCode>(error: unknown, code: Code): error is PigeonholeError<Code>;
export function isPigeonholeError(error: unknown, code?: string): boolean {
  return error instanceof PigeonholeError && (code === undefined || error.code === code);
}
