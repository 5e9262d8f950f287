import { isDeepStrictEqual } from "node:util";
import { EVENT_RETENTION_MS, type StoredEvent } from "./event-log.js";

/** Where an event was sent under a key: alone, or at a position of a batch. */
export interface SendSlot {
  /** The API key; every one has idempotency keys of its own. Assumed. */
  keyId: string;
  idempotencyKey: string;
  /** Undefined for an event sent alone. */
  position: number | undefined;
}

/** A first send and what it was answered with. */
export interface RememberedSend {
  /** The event as it was sent. */
  sent: unknown;
  stored: StoredEvent;
  enrolled: string[];
  resumed: number;
  /** When, in milliseconds since 1970. */
  atMs: number;
}

/** What a slot says about an event sent now. */
export type Recall = { kind: "unknown" } | { kind: "same"; send: RememberedSend } | { kind: "different" };

/** The memory behind Idempotency-Key. See docs/service.md#idempotency-keys. */
export class RememberedSends {
  readonly #sends = new Map<string, RememberedSend>();

  /** The same event is one that is equal field by field as JSON, a field left out being unlike any value. Assumed. */
  recall(slot: SendSlot, sent: unknown): Recall {
    const send = this.#sends.get(textOf(slot));
    if (send === undefined) return { kind: "unknown" };
    return isDeepStrictEqual(send.sent, sent) ? { kind: "same", send } : { kind: "different" };
  }

  remember(slot: SendSlot, send: RememberedSend): void {
    this.#sends.set(textOf(slot), send);
  }

  /** Forgets a key with the event that it stands for. */
  prune(nowMs: number): void {
    for (const [slot, { atMs }] of this.#sends) {
      // A map keeps the order of insertion, so what follows is younger.
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
