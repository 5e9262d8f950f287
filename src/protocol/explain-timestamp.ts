import { SECOND } from "../base/duration.js";
import type { SignatureFinding, Variant } from "./explanation.js";
import type { ParsedSignature } from "./parse-signature.js";
import { isDigits } from "./timestamp.js";

const AS_IT_STANDS = "Sign the timestamp exactly as it is sent, then a dot, then the body.";

/** Other texts that may have been signed in front of the body, each with what would then be wrong. */
export function prefixVariants({ timestampText, signedAt }: ParsedSignature): Variant<string>[] {
  const seconds = Math.floor(signedAt / SECOND);
  const texts = [String(seconds), String(signedAt), String(seconds * SECOND), new Date(signedAt).toISOString()];
  const unit = "The signature fits the same time in another unit or format: what was signed is not what was sent.";
  const none = "The signature fits the body alone: the timestamp and the dot were left out.";
  return [
    ...texts
      .filter((text) => text !== timestampText)
      .map((text): Variant<string> => {
        return { value: `${text}.`, finding: { code: "timestamp_unit", message: unit, fix: AS_IT_STANDS } };
      }),
    { value: "", finding: { code: "timestamp_not_signed", message: none, fix: AS_IT_STANDS } },
  ];
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
  const range = `more than the ${toleranceSeconds} seconds allowed.`;
  if (skewSeconds < 0) {
    const message = `It was signed ${off} seconds ahead of this machine's clock (${signed}), ${range}`;
    const fix = "This machine's clock is behind, or the sender's is ahead: synchronise both with NTP.";
    return { code: "clock_behind", message, fix };
  }
  if (signedAt < Date.UTC(2001, 0, 1)) {
    const message = `The timestamp reads as ${signed}, decades ago: perhaps seconds were divided by 1000 once too often.`;
    return { code: "timestamp_unit", message, fix: "Send Unix seconds (10 digits) or milliseconds (13 digits)." };
  }
  const message = `It was signed ${off} seconds before this machine's clock (${signed}), ${range}`;
  const fix =
    "If it was sent just now, this machine's clock is ahead, or the sender's is behind: synchronise both with NTP. " +
    "If it is a capture, sign it again with a fresh timestamp.";
  return { code: "clock_ahead", message, fix };
}
