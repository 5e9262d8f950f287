import { hash } from "node:crypto";

/** What a derived key stands for. The same parts always give the same key. */
export interface KeyParts {
  /** Names the receiver among several that use the same API key. */
  source: string;
  eventId: string;
  /** The event's `createdAt`; empty where there is no event. */
  createdAt: string;
  handler: string;
  /** Tells the effects of one handler apart. */
  label: string;
}

const VERSION = "1";

/** Enough for any time that the envelope can hold, in base 36. */
const TIME_LENGTH = 10;

/**
 * 53 characters of the service's idempotency-key alphabet, DESIGN §6. A rerun of the same handler derives the same key. In front stands
 * the time of the event: what is recorded together then lies together in an index of keys, which makes a record cheaper to store.
 */
export function deriveIdempotencyKey(parts: KeyParts): string {
  // JSON keeps the parts apart whatever characters they hold.
  const text = JSON.stringify([VERSION, parts.source, parts.eventId, parts.handler, parts.label]);
  return sortableTime(parts.createdAt) + hash("sha256", text, "base64url");
}

function sortableTime(createdAt: string): string {
  const ms = Date.parse(createdAt);
  return (ms >= 0 ? ms.toString(36) : "").padStart(TIME_LENGTH, "0");
}
