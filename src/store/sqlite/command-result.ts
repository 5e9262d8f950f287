import type { ErrorCode } from "../../base/error.js";
import type { SettleResult } from "../store.js";

/** The result of an operation. */
export type OperationResult = { ok: true; value: unknown } | Failure;

export interface Failure {
  ok: false;
  code: ErrorCode;
  message: string;
  /** The state of SQLite is uncertain: nothing more may be written. */
  breaking: boolean;
}

/**
 * The result of a command; a number is that of a new event which has no other bytes, and whose leases have the epoch as
 * token.
 */
export type CommandResult = number | SettleResult | OperationResult;

export function failureOf(result: CommandResult | undefined): Failure | undefined {
  return typeof result === "object" && !result.ok ? result : undefined;
}
