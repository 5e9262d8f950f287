import { hash } from "node:crypto";

/** What a derived key stands for. The same parts always give the same key. */
export interface KeyParts {
  /** Names the receiver among several that use the same API key. */
  source: string;
  eventId: string;
  handler: string;
  /** Tells the effects of one handler apart. */
  label: string;
}

const VERSION = "1";

/** 43 characters of the service's idempotency-key alphabet, DESIGN §6. A rerun of the same handler derives the same key. */
export function deriveIdempotencyKey(parts: KeyParts): string {
  // JSON keeps the parts apart whatever characters they hold.
  const text = JSON.stringify([VERSION, parts.source, parts.eventId, parts.handler, parts.label]);
  return hash("sha256", text, "base64url");
}
