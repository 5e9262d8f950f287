import { PigeonholeError } from "../base/error.js";
import { SECRET_SHAPE } from "../protocol/limits.js";

/**
 * Throws `invalid_secret` unless the secret has the documented shape: whsec_ and 43 base64url characters. Never quotes
 * it.
 */
export function checkSecret(secret: string): void {
  const { prefix, keyLength } = SECRET_SHAPE;
  const key = secret.startsWith(prefix) ? secret.slice(prefix.length) : "";
  if (key.length === keyLength && /^[A-Za-z0-9_-]+$/.test(key)) return;
  throw new PigeonholeError(
    "invalid_secret",
    `An endpoint's secret must be ${prefix} and ${keyLength} base64url characters; leave it out to have one made.`,
  );
}
