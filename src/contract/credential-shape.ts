import { isHeaderName } from "../base/http.js";
import { PigeonholeError } from "../base/error.js";
import { type Changes, type OptionsOf, defineOptions, given } from "../base/options.js";

/** How the credential is sent. The service's documentation does not show it, so it can be set. */
export interface CredentialShape {
  /** Name of the header. @default "authorization" */
  header: string;
  /** Text before the key, including a space if one is needed. @default "Bearer " */
  prefix: string;
}

/** The defaults of {@link CredentialShape}. */
export const CREDENTIAL_OPTIONS = defineOptions("credential", {
  header: given({ default: "authorization" }),
  prefix: given({ default: "Bearer " }),
} satisfies OptionsOf<CredentialShape>);

/** Fills in the defaults. Throws `invalid_option` for a value that no HTTP header can have. */
export function resolveCredentialShape(shape: Changes<CredentialShape> = {}): CredentialShape {
  const { header, prefix } = CREDENTIAL_OPTIONS.resolve(shape);
  if (isHeaderName(header) && /^[ -~]*$/.test(prefix)) return { header, prefix };
  throw new PigeonholeError("invalid_option", "credential must be { header, prefix } fit for an HTTP header.");
}
