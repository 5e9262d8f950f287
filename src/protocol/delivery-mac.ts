import { createHmac, KeyObject } from "node:crypto";
import { PigeonholeError } from "../base/error.js";

/** A webhook secret: the whole string including `whsec_`, or the same as a key object made once. */
export type Secret = string | KeyObject;

/**
 * HMAC-SHA256 over `prefix` and the raw body, keyed by the whole secret. The prefix of a delivery is its timestamp text
 * and a dot. Two updates, so that the body is neither copied nor decoded.
 */
export function deliveryMac(secret: Secret | Uint8Array, prefix: string, body: Uint8Array | string): Buffer {
  return createHmac("sha256", secret).update(prefix).update(body).digest();
}

/** Returns the secrets as a list; throws `invalid_secret` for an empty list or secret: anyone could sign then. */
export function checkSecrets(secrets: string | readonly Secret[]): readonly Secret[] {
  const list: readonly Secret[] = typeof secrets === "string" ? [secrets] : secrets;
  if (!Array.isArray(list) || list.length === 0) {
    throw new PigeonholeError("invalid_secret", "No webhook secret was given: pass the whole string including whsec_.");
  }
  for (const [index, secret] of list.entries()) {
    if (isUsable(secret)) continue;
    throw new PigeonholeError(
      "invalid_secret",
      `secrets[${index}] is empty or not a secret key: pass the whole string.`,
    );
  }
  return list;
}

function isUsable(secret: unknown): boolean {
  if (typeof secret === "string") return secret.trim() !== "";
  return secret instanceof KeyObject && secret.type === "secret" && (secret.symmetricKeySize ?? 0) > 0;
}

/** Throws `invalid_argument` unless the body is text or bytes, which a parsed body is not. */
export function checkBody(body: Uint8Array | string): void {
  if (typeof body === "string" || ArrayBuffer.isView(body)) return;
  throw new PigeonholeError(
    "invalid_argument",
    "body must be the raw bytes as received. Another parser, such as express.json(), seems to have read it first: " +
      "take the bytes in front of that parser, since a body that was serialized again does not fit its signature.",
  );
}
