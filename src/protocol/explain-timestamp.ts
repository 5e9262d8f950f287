import { HOUR, MINUTE, SECOND } from "../base/duration.js";
import type { SignatureAssumptions } from "./assumptions.js";
import type { SignatureFinding, Variant } from "./explanation.js";
import { MAX_SIGNATURE_HEADER_LENGTH } from "./limits.js";
import type { ParsedSignature } from "./parse-signature.js";
import type { HeaderReader } from "./raw-request.js";
import { readSignatureHeader, trimSpaces } from "./signature-header.js";
import { isDigits } from "./timestamp.js";

const AS_IT_STANDS = "Sign the timestamp exactly as it is sent, then a dot, then the body.";

/** Other texts that may have been signed in front of the body, each with what would then be wrong. */
export function prefixVariants(
  parsed: ParsedSignature,
  header: HeaderReader,
  assumptions: SignatureAssumptions,
): Variant<string>[] {
  const variants: Variant<string>[] = otherSpellings(parsed).map((text) => ({
    value: `${text}.`,
    finding: {
      code: "timestamp_unit",
      message: "The signature fits the same time in another unit or format: what was signed is not what was sent.",
      fix: AS_IT_STANDS,
    },
  }));
  const other =
    parsed.timestampFrom === "signature" ? header(assumptions.timestampHeader) : signatureTime(header, assumptions);
  if (
    other !== undefined &&
    other.length <= MAX_SIGNATURE_HEADER_LENGTH &&
    trimSpaces(other) !== parsed.timestampText
  ) {
    const read = parsed.timestampFrom === "signature" ? "t= of the signature header" : assumptions.timestampHeader;
    const signed = parsed.timestampFrom === "signature" ? assumptions.timestampHeader : "t= of the signature header";
    variants.push({
      value: `${trimSpaces(other)}.`,
      finding: {
        code: "timestamp_other_header",
        message: `The signature fits the timestamp in ${signed}; the one in ${read} was read.`,
        fix: "Set the assumption `timestampIn` to where the signed timestamp travels.",
      },
    });
  }
  const message = "The signature fits the body alone: the timestamp and the dot were left out.";
  variants.push({ value: "", finding: { code: "timestamp_not_signed", message, fix: AS_IT_STANDS } });
  return variants;
}

function otherSpellings({ timestampText, signedAt }: ParsedSignature): string[] {
  const seconds = Math.floor(signedAt / SECOND);
  const texts = [String(seconds), String(signedAt), String(seconds * SECOND), new Date(signedAt).toISOString()];
  return texts.filter((text) => text !== timestampText);
}

/** The time in a signature header that the assumptions say not to read. */
function signatureTime(header: HeaderReader, assumptions: SignatureAssumptions): string | undefined {
  const read = readSignatureHeader(header(assumptions.signatureHeader) ?? "", assumptions.encodings);
  return read.ok ? read.timestamps[0] : undefined;
}

/** Why the texts of a timestamp cannot be read. */
export function explainTimestamp(texts: readonly string[]): SignatureFinding {
  const code = "timestamp_malformed";
  const fix = "Send whole Unix seconds, or ISO 8601 with a zone such as 2026-01-31T12:00:00Z.";
  const said = (message: string): SignatureFinding => ({ code, message, fix });
  const [text = "", second] = texts;
  if (second !== undefined)
    return said("There are several different timestamps, and it is not known which was signed.");
  if (text === "") return said("The timestamp is empty.");
  if (isDigits(text)) {
    const message = `The timestamp has ${text.length} digits, more than milliseconds have: perhaps micro- or nanoseconds.`;
    return { code: "timestamp_unit", message, fix };
  }
  if (/^\d{1,14}\.\d{1,9}$/.test(text)) return said("The timestamp has a decimal point.");
  if (/^\d{4}-\d\d-\d\d[T ][\d:.]{5,20}$/.test(text)) return said("The timestamp is a date without a time zone.");
  return said("The timestamp is neither digits nor an ISO 8601 date and time.");
}

/** What a skew beyond the tolerance says about the clocks. */
export function clockFinding(skewSeconds: number, signedAt: number, toleranceSeconds: number): SignatureFinding {
  const off = Math.abs(skewSeconds);
  const signed = new Date(signedAt).toISOString();
  const zone = wholeHours(off) ? " It is off by whole hours: perhaps a local time was taken for UTC." : "";
  const range = `more than the ${toleranceSeconds} seconds allowed.`;
  if (skewSeconds < 0) {
    const message = `It was signed ${off} seconds ahead of this machine's clock (${signed}), ${range}${zone}`;
    const fix = "This machine's clock is behind, or the sender's is ahead: synchronise both with NTP.";
    return { code: "clock_behind", message, fix };
  }
  if (signedAt < Date.UTC(2001, 0, 1)) {
    const message = `The timestamp reads as ${signed}, decades ago: perhaps seconds were divided by 1000 once too often.`;
    return { code: "timestamp_unit", message, fix: "Send Unix seconds (10 digits) or milliseconds (13 digits)." };
  }
  const message = `It was signed ${off} seconds before this machine's clock (${signed}), ${range}${zone}`;
  const fix =
    "If it was sent just now, this machine's clock is ahead, or the sender's is behind: synchronise both with NTP. " +
    "If it is a capture, sign it again with a fresh timestamp.";
  return { code: "clock_ahead", message, fix };
}

function wholeHours(seconds: number): boolean {
  const ms = seconds * SECOND;
  const rest = ms % HOUR;
  return ms > HOUR - MINUTE && ms < 15 * HOUR && (rest < MINUTE || rest > HOUR - MINUTE);
}
