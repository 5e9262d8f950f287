import { PigeonholeError } from "../base/error.js";
import {
  type Changes,
  type OptionsDefinition,
  type OptionsOf,
  defineOptions,
  given,
  required,
} from "../base/options.js";
import type { SignatureAssumptions, SignatureEncoding } from "./signature-assumptions.js";
import { checkBody, deliveryMac } from "./delivery-mac.js";
import { resolveSignatureAssumptions } from "./resolve-assumptions.js";
import { checkSecrets } from "./secret.js";

/** A delivery to sign. */
export interface SignDeliveryInput {
  /** The body exactly as it will be sent. Text is taken as UTF-8. */
  body: Uint8Array | string;
  /** The whole secret including `whsec_`. */
  secret: string;
  /**
   * Milliseconds since 1970, written as whole Unix seconds; or a text, signed and sent unchanged. @default Date.now()
   */
  timestamp?: number | string | undefined;
  /**
   * `combined`: `t=…,v1=…` in the signature header; `bare`: the value alone, and the time in the timestamp header.
   * @default 'combined', or 'bare' where the assumptions have the time in its own header
   */
  format?: "combined" | "bare" | undefined;
  /** How the signature value is written. @default 'hex', or the first encoding of the assumptions */
  encoding?: SignatureEncoding | undefined;
  /** Changes to what the service's documentation leaves open. @default SIGNATURE_ASSUMPTIONS */
  assumptions?: Changes<SignatureAssumptions> | undefined;
}

/** The names of {@link SignDeliveryInput}; the values are checked below. TypeScript 5.4 needs the type. */
export const SIGN_OPTIONS: OptionsDefinition<OptionsOf<SignDeliveryInput>> = defineOptions("signDelivery", {
  body: required(),
  secret: required(),
  timestamp: given(),
  format: given(),
  encoding: given(),
  assumptions: given(),
});

/** The last moment of a JavaScript date, in milliseconds. */
const LATEST_DATE = 8.64e15;

/**
 * Signs a delivery as the service does and returns the headers to send with it, names in lower case. For tests, replays
 * and emulators. Throws `invalid_secret`, and `invalid_argument` for a timestamp that cannot be sent.
 */
export function signDelivery(input: SignDeliveryInput): Record<string, string> {
  SIGN_OPTIONS.checkNames(input);
  const { body, secret, timestamp = Date.now() } = input;
  checkSecrets(secret);
  checkBody(body);
  const assumptions = resolveSignatureAssumptions(input.assumptions);
  const format = input.format ?? (assumptions.timestampIn === "header" ? "bare" : "combined");
  const encoding = input.encoding ?? defaultEncoding(assumptions.encodings);
  const text = timestampText(timestamp);
  const value = deliveryMac(secret, `${text}.`, body).toString(encoding);
  if (format === "combined") return { [assumptions.signatureHeader]: `t=${text},v1=${value}` };
  return { [assumptions.signatureHeader]: value, [assumptions.timestampHeader]: text };
}

function defaultEncoding(encodings: readonly SignatureEncoding[]): SignatureEncoding {
  return encodings.includes("hex") ? "hex" : (encodings[0] ?? "hex");
}

function timestampText(timestamp: number | string): string {
  if (typeof timestamp === "number" && timestamp >= 0 && timestamp <= LATEST_DATE) {
    return String(Math.floor(timestamp / 1000));
  }
  // A header takes no line end; one would let a timestamp add headers.
  if (typeof timestamp === "string" && /^[\x20-\x7e]*$/.test(timestamp)) return timestamp;
  throw new PigeonholeError("invalid_argument", "timestamp must be milliseconds since 1970 or printable ASCII text.");
}
