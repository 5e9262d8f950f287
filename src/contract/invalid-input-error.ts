import { PigeonholeError } from "../base/error.js";
import type { Fault, FaultCode } from "./fault.js";

/**
 * PigeonholeError for codes that the service gives: those are not of this package's list, and ones it does not know yet
 * must survive. An instance is a PigeonholeError all the same.
 */
export const ServiceCodeError = PigeonholeError as unknown as new (
  code: string,
  message: string,
  options?: ErrorOptions,
) => Error & { readonly code: string };

/** An input breaks a documented rule. Nothing was sent. Holds no value of the input. */
export class InvalidInputError extends ServiceCodeError {
  override readonly name = "InvalidInputError";
  /** As the service would name it. */
  declare readonly code: FaultCode;
  /** Dotted path of the field, such as `events.3.name`; undefined when the input as a whole is meant. */
  readonly param: string | undefined;

  constructor(call: string, { code, param, message }: Fault) {
    super(code, `${call} was not sent: ${param === "" ? "the input" : param}: ${message}`);
    this.param = param === "" ? undefined : param;
  }
}
