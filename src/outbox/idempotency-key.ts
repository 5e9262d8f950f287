// As a whole: an import by name fails before an error can say that Node is too old.
import crypto from "node:crypto";

/** Whose key it is. */
export interface KeyOwner {
  /** Names the receiver among several that use the same API key. */
  receiver: string;
  /** Empty outside of handlers, as is `handler`. */
  eventId: string;
  handler: string;
}

const VERSION = "1";

/** So that no key begins with a hyphen, which a command line would read as a flag. */
const PREFIX = "key_";

/**
 * 47 characters of the service's alphabet (docs/service.md#idempotency-keys). A rerun of the same handler derives the
 * same key; `label` tells the effects of one handler apart; a list of words is never the same as one word.
 */
export function deriveIdempotencyKey(
  { receiver, eventId, handler }: KeyOwner,
  label: string | readonly (string | undefined)[],
): string {
  // JSON keeps the parts separate, with any characters in them.
  return PREFIX + crypto.hash("sha256", JSON.stringify([VERSION, receiver, eventId, handler, label]), "base64url");
}
