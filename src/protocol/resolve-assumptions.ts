import { isHeaderName } from "../base/http.js";
import { PigeonholeError } from "../base/error.js";
import { type Changes, type OptionsOf, defineOptions, oneOf, readBy } from "../base/options.js";
import {
  SIGNATURE_ASSUMPTIONS,
  type SignatureAssumptions,
  type SignatureEncoding,
  type TimestampPlace,
} from "./signature-assumptions.js";

/** The defaults and checks of {@link SignatureAssumptions}. */
export const SIGNATURE_OPTIONS = defineOptions("signature", {
  signatureHeader: readBy(headerName, { default: SIGNATURE_ASSUMPTIONS.signatureHeader }),
  timestampHeader: readBy(headerName, { default: SIGNATURE_ASSUMPTIONS.timestampHeader }),
  timestampIn: oneOf<TimestampPlace>(["either", "signature", "header"], { default: SIGNATURE_ASSUMPTIONS.timestampIn }),
  encodings: readBy(checkEncodings, { default: SIGNATURE_ASSUMPTIONS.encodings }),
} satisfies OptionsOf<SignatureAssumptions>);

/**
 * Fills in the defaults; throws `invalid_option` for a value that nothing can match. `option` is what the caller calls
 * it.
 */
export function resolveSignatureAssumptions(
  changes?: Changes<SignatureAssumptions>,
  option = "assumptions",
): SignatureAssumptions {
  // The same object for the default, so that the hot path allocates nothing.
  if (changes === undefined) return SIGNATURE_ASSUMPTIONS;
  const resolved = SIGNATURE_OPTIONS.resolve(changes, { place: option, prefix: `${option}.` });
  if (resolved.signatureHeader !== resolved.timestampHeader) return resolved;
  throw new PigeonholeError("invalid_option", `${option}.signatureHeader and timestampHeader must differ.`);
}

function checkEncodings(option: string, encodings: readonly SignatureEncoding[]): readonly SignatureEncoding[] {
  const known = SIGNATURE_ASSUMPTIONS.encodings;
  if (encodings.length > 0 && encodings.every((encoding) => known.includes(encoding))) return encodings;
  throw new PigeonholeError("invalid_option", `${option} must name some of 'hex', 'base64', 'base64url'.`);
}

function headerName(option: string, given: string): string {
  const name = given.toLowerCase();
  if (isHeaderName(name)) return name;
  throw new PigeonholeError("invalid_option", `${option} is not the name of an HTTP header.`);
}
