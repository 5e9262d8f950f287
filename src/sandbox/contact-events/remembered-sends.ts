import { isDeepStrictEqual } from "node:util";
import { EVENT_RETENTION_MS, type StoredEvent } from "./event-log.js";

/** How an event was sent with a key: alone, or at a position of a batch. */
export interface SendSlot {
  /** The API key; each has its own idempotency keys. Assumed. */
  keyId: string;
  idempotencyKey: string;
  /** Undefined for an event sent alone. */
  position: number | undefined;
}

/** A first send and its answer. */
export interface RememberedSend {
  /** The event as it was sent. */
  sent: unknown;
  stored: StoredEvent;
  enrolled: string[];
  resumed: number;
  /** Time of sending, in milliseconds since 1970. */
  atMs: number;
}

/** The result of comparing an event with an earlier send. */
export type Recall = { kind: "unknown" } | { kind: "same"; send: RememberedSend } | { kind: "different" };

/** The memory behind Idempotency-Key. See docs/service.md#idempotency-keys. */
export class RememberedSends {
  readonly #sends = new Map<string, RememberedSend>();

  /**
   * Two events are the same if they are equal field by field as JSON. An omitted field differs from any value. Assumed.
   */
  recall(slot: SendSlot, sent: unknown): Recall {
    const send = this.#sends.get(textOf(slot));
    if (send === undefined) return { kind: "unknown" };
    return isDeepStrictEqual(send.sent, sent) ? { kind: "same", send } : { kind: "different" };
  }

  remember(slot: SendSlot, send: RememberedSend): void {
    this.#sends.set(textOf(slot), send);
  }

  /** Forgets a key and its event. */
  prune(nowMs: number): void {
    for (const [slot, { atMs }] of this.#sends) {
      // A map keeps the order of insertion, so all entries that follow are newer.
      if (atMs >= nowMs - EVENT_RETENTION_MS) return;
      this.#sends.delete(slot);
    }
  }

  clear(): void {
    this.#sends.clear();
  }
}

function textOf({ keyId, idempotencyKey, position }: SendSlot): string {
  return JSON.stringify([keyId, idempotencyKey, position ?? null]);
}
