import type { ErrorCode } from "../../base/error.js";

/** The result of a command. `breaking`: the state of SQLite is uncertain, nothing more may be written. */
export type CommandResult = { ok: true; value: unknown } | Failure;

export interface Failure {
  ok: false;
  code: ErrorCode;
  message: string;
  breaking: boolean;
}
