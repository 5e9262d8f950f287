import type { ErrorCode } from "../../base/error.js";
import type { SettleResult } from "../store.js";
import type { Accepted } from "./operations/accept.js";

/** The result of an operation. */
export type OperationResult = { ok: true; value: unknown } | Failure;

export interface Failure {
  ok: false;
  code: ErrorCode;
  message: string;
  /** The state of SQLite is uncertain: nothing more may be written. */
  breaking: boolean;
}

/** The result of a command: of `accept`, of a settlement, or of another operation. */
export type CommandResult = Accepted | SettleResult | OperationResult;

export function failureOf(result: CommandResult | undefined): Failure | undefined {
  return typeof result === "object" && "ok" in result && !result.ok ? result : undefined;
}
