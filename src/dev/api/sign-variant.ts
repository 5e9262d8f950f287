import type { Changes } from "../../base/options.js";
import { MINUTE } from "../../base/duration.js";
import { PigeonholeError } from "../../base/error.js";
import type { HeaderList } from "../../capture/model/capture.js";
import type { SignatureAssumptions } from "../../protocol/signature-assumptions.js";
import { makeSecret } from "../../protocol/secret.js";
import { signHere } from "../../protocol/sign-here.js";
import type { SignatureVariant } from "./page-api.js";

/** Age of the signature of a stale delivery: twice the tolerance. */
const STALE_MS = 10 * MINUTE;

export interface SignedVariant {
  /** Headers of a delivery, signature included. */
  headers: HeaderList;
  /** The bytes to send; changed after signing for a tampered delivery. */
  body: Uint8Array;
}

/**
 * Signs a delivery correctly, or in one wrong way. Throws `invalid_secret` if a secret is needed and there is
 * none.
 */
export function signVariant(input: {
  body: Uint8Array;
  /** The whole secret including `whsec_`. */
  secret: string | undefined;
  variant: SignatureVariant;
  /** Milliseconds since 1970. */
  nowMs: number;
  assumptions?: Changes<SignatureAssumptions>;
}): SignedVariant {
  const { body, variant, nowMs, assumptions } = input;
  const sign = (secret: string, timestamp = nowMs): HeaderList =>
    Object.entries(signHere({ body, secret, timestamp, assumptions }));
  const given = (): string => {
    if (input.secret !== undefined) return input.secret;
    throw new PigeonholeError(
      "invalid_secret",
      "To sign a delivery, the endpoint's secret is needed: the whole string including whsec_.",
    );
  };
  const plain: HeaderList = [["Content-Type", "application/json"]];
  switch (variant) {
    case "valid":
      return { headers: [...plain, ...sign(given())], body };
    case "stale":
      return { headers: [...plain, ...sign(given(), nowMs - STALE_MS)], body };
    case "wrong-secret":
      return { headers: [...plain, ...sign(makeSecret())], body };
    case "tampered":
      // A space after the JSON: the event is the same, but the bytes differ from those that were signed.
      return { headers: [...plain, ...sign(given())], body: Buffer.concat([body, Buffer.from(" ")]) };
    case "missing":
      return { headers: plain, body };
  }
}
