import { PigeonholeError } from "../base/error.js";
import { type OptionNames, checkOptionNames } from "../base/option-check.js";
import { SIGNATURE_ASSUMPTIONS, type SignatureAssumptions, type TimestampPlace } from "./assumptions.js";

const PLACES: readonly string[] = ["either", "signature", "header"] satisfies TimestampPlace[];
const OPTION_NAMES: OptionNames<SignatureAssumptions> = {
  signatureHeader: true,
  timestampHeader: true,
  timestampIn: true,
  encodings: true,
};
const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/;

/**
 * Fills in the defaults; throws `invalid_option` for a value that nothing can match. `option` is what the caller calls
 * it.
 */
export function resolveSignatureAssumptions(
  changes?: Partial<SignatureAssumptions>,
  option = "assumptions",
): SignatureAssumptions {
  // The same object for the default, so that the hot path allocates nothing.
  if (changes === undefined) return SIGNATURE_ASSUMPTIONS;
  checkOptionNames(option, changes, OPTION_NAMES);
  const timestampIn = changes.timestampIn ?? SIGNATURE_ASSUMPTIONS.timestampIn;
  const encodings = changes.encodings ?? SIGNATURE_ASSUMPTIONS.encodings;
  if (!PLACES.includes(timestampIn)) {
    throw new PigeonholeError("invalid_option", `${option}.timestampIn must be 'either', 'signature' or 'header'.`);
  }
  if (encodings.length === 0 || encodings.some((encoding) => !SIGNATURE_ASSUMPTIONS.encodings.includes(encoding))) {
    throw new PigeonholeError("invalid_option", `${option}.encodings must name some of 'hex', 'base64', 'base64url'.`);
  }
  const signatureHeader = headerName(
    `${option}.signatureHeader`,
    changes.signatureHeader ?? SIGNATURE_ASSUMPTIONS.signatureHeader,
  );
  const timestampHeader = headerName(
    `${option}.timestampHeader`,
    changes.timestampHeader ?? SIGNATURE_ASSUMPTIONS.timestampHeader,
  );
  if (signatureHeader === timestampHeader) {
    throw new PigeonholeError("invalid_option", `${option}.signatureHeader and timestampHeader must differ.`);
  }
  return { signatureHeader, timestampHeader, timestampIn, encodings };
}

function headerName(option: string, given: string): string {
  const name = given.toLowerCase();
  if (HEADER_NAME.test(name)) return name;
  throw new PigeonholeError("invalid_option", `${option} is not the name of an HTTP header.`);
}
