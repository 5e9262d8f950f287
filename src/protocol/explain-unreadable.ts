import type { SignatureAssumptions } from "./signature-assumptions.js";
import { explainTimestamp } from "./explain-timestamp.js";
import type { SignatureFinding } from "./explanation.js";
import { MAX_SIGNATURE_HEADER_LENGTH } from "./limits.js";
import { type ParseFailure, timestampTexts } from "./parse-signature.js";
import type { HeaderReader } from "./raw-request.js";
import { readSignatureHeader, type SignatureHeaderError } from "./signature-header.js";
import { signatureShape } from "./signature-shape.js";

const HEADER_ERRORS: Record<SignatureHeaderError, string> = {
  empty: "is empty",
  too_long: `is longer than ${MAX_SIGNATURE_HEADER_LENGTH} characters`,
  no_signature: "holds a time and no signature",
  undecodable_signature: "holds no value that is 32 bytes in hex, base64 or base64url as the assumptions allow",
};

/** What a receiver does with a signature header that is there and cannot be read. */
const SENT_AGAIN = "Until then a receiver answers 503, and the service sends the delivery again.";

/** Says why the headers hold nothing to verify. */
export function explainUnreadable(
  failure: ParseFailure,
  header: HeaderReader,
  assumptions: SignatureAssumptions,
): SignatureFinding[] {
  const { signatureHeader } = assumptions;
  if (failure.reason === "missing_signature") {
    const message = `There is no header ${signatureHeader}.`;
    const fix = "Check that the request comes from the service and that no proxy in front removes the header.";
    return [{ code: "signature_missing", message, fix }];
  }
  if (failure.reason === "malformed_signature") {
    const message = `The header ${signatureHeader} ${HEADER_ERRORS[failure.error]} (${signatureShape(header, assumptions)}).`;
    const fix = `Expected: t=<seconds>,v1=<signature>, or the signature alone beside a timestamp header. ${SENT_AGAIN}`;
    return [{ code: "signature_malformed", message, fix }];
  }
  return [failure.reason === "missing_timestamp" ? noTimestamp(assumptions) : unreadableTimestamp(header, assumptions)];
}

function noTimestamp({ signatureHeader, timestampHeader, timestampIn }: SignatureAssumptions): SignatureFinding {
  const places = {
    signature: "t= in it",
    header: `header ${timestampHeader}`,
    either: `t= in it and no header ${timestampHeader}`,
  };
  const message = `The header ${signatureHeader} holds a signature, but there is no ${places[timestampIn]}.`;
  const fix = `Check that no proxy removes headers, or set the assumptions \`timestampIn\` and \`timestampHeader\`. ${SENT_AGAIN}`;
  return { code: "timestamp_missing", message, fix };
}

function unreadableTimestamp(header: HeaderReader, assumptions: SignatureAssumptions): SignatureFinding {
  const read = readSignatureHeader(header(assumptions.signatureHeader) ?? "", assumptions.encodings);
  const { inSignature, inHeader } = timestampTexts(read.ok ? read.timestamps : [], header, assumptions);
  const finding = explainTimestamp(inSignature.length > 0 ? inSignature : inHeader);
  return { ...finding, fix: `${finding.fix} ${SENT_AGAIN}` };
}
