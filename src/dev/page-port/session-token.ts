import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** A secret for one run of the dev server. */
export function makeToken(): string {
  return randomBytes(32).toString("base64url");
}

/** Compares in constant time, for any lengths. */
export function isSameToken(given: string, wanted: string): boolean {
  return timingSafeEqual(digest(given), digest(wanted));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
