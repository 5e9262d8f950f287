import type { FrozenSend } from "#pigeonhole/store/outbox.js";

/**
 * The service's memory of idempotency keys, docs/service.md#idempotency-keys: a single under its key, an event of a
 * batch under key and position.
 */
export class ContactEventSlots {
  readonly #remembered = new Map<string, string>();
  /** Bodies stored, in order. */
  readonly stored: string[] = [];
  /** Bodies refused because something else is remembered in their place. */
  readonly reused: string[] = [];

  /** Takes a call, except for the events at the given positions; tells for each event whether it is stored now. */
  take(call: FrozenSend, refusedAt: readonly number[] = []): boolean[] {
    return call.events.map(({ body }, position) => {
      const slot = slotOf(call, position);
      const known = this.#remembered.get(slot);
      if (known !== undefined) {
        if (known !== body) this.reused.push(body);
        return known === body;
      }
      if (refusedAt.includes(position)) return false;
      this.#remembered.set(slot, body);
      this.stored.push(body);
      return true;
    });
  }

  /** True when something of the call has been stored. */
  knows(call: FrozenSend): boolean {
    return call.events.some((_, position) => this.#remembered.has(slotOf(call, position)));
  }
}

function slotOf({ kind, key }: FrozenSend, position: number): string {
  return kind === "single" ? `single ${key}` : `batch ${key} ${position}`;
}
