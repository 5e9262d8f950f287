import { PigeonholeError } from "../base/error.js";
import { type OptionNames, checkOptionNames } from "../base/option-check.js";

/** How the credential travels; not shown in the documents, so it can be set. */
export interface CredentialShape {
  /** Name of the header. @default "authorization" */
  header: string;
  /** What stands before the key, a space included where one is needed. @default "Bearer " */
  prefix: string;
}

const OPTION_NAMES: OptionNames<CredentialShape> = { header: true, prefix: true };
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;

/** Fills in the defaults; throws `invalid_option` for what no HTTP header can carry. */
export function resolveCredentialShape(given: Partial<CredentialShape> = {}): CredentialShape {
  checkOptionNames("credential", given, OPTION_NAMES);
  const { header = "authorization", prefix = "Bearer " } = given;
  if (HEADER_NAME.test(header) && /^[ -~]*$/.test(prefix)) return { header, prefix };
  throw new PigeonholeError("invalid_option", "credential must be { header, prefix } fit for an HTTP header.");
}
