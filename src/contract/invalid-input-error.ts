import { PigeonholeError } from "../base/error.js";
import type { Fault, FaultCode } from "./fault.js";

/** An input breaks a documented rule; `code` is as the service would name it. Nothing was sent. Holds no value of the input. */
export class InvalidInputError extends PigeonholeError<FaultCode> {
  override readonly name = "InvalidInputError";
  /** Dotted path of the field, such as `events.3.name`; undefined when the input as a whole is meant. */
  readonly param: string | undefined;

  constructor(call: string, { code, param, message }: Fault) {
    super(code, `${call} was not sent: ${param === "" ? "the input" : param}: ${message}`);
    this.param = param === "" ? undefined : param;
  }
}
