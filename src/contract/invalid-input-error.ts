import { PigeonholeError } from "../base/error.js";
import type { ValidationIssue, ValidationCode } from "./check-input.js";

/**
 * An input breaks a documented rule. `code` is the one the service would use. Nothing was sent. Contains no value of
 * the input.
 */
export class InvalidInputError extends PigeonholeError<ValidationCode> {
  override readonly name = "InvalidInputError";
  /** Dotted path of the field, such as `events.3.name`; undefined for the whole input. */
  readonly param: string | undefined;
  /** The same call would be refused again. */
  readonly retryable = false;

  constructor(call: string, { code, param, message }: ValidationIssue) {
    super(code, `${call} was not sent: ${param === "" ? "the input" : param}: ${message}`);
    this.param = param === "" ? undefined : param;
  }

  /** True: the path of the field may have a key that the app made of a value. */
  override get mayQuote(): boolean {
    return true;
  }
}
