import { createHash } from "node:crypto";

/** A key as it is stored. Keys may be of any length, which an index does not take, and may be addresses. */
export function digestOf(key: string): string {
  return createHash("sha256").update(key).digest("base64url");
}
