import { errorFields } from "../../base/error-fields.js";
import type { Gate, GatedWork, WindowLease } from "../gate.js";
import type { LeaseWindow } from "../lease-window.js";
import type { StoreDeps } from "../registry.js";

/** Other work of the handler with the same key runs, here or in another process. One gate per handler. */
export class KeyGate implements Gate {
  readonly name = "key";
  readonly keeps = "work";
  readonly #window: LeaseWindow;
  readonly #deps: StoreDeps;
  readonly #busy = new Set<string>();

  constructor(window: LeaseWindow, deps: StoreDeps) {
    this.#window = window;
    this.#deps = deps;
  }

  allows({ key }: GatedWork): boolean {
    return key === undefined || !this.#busy.has(key);
  }

  enter(lease: WindowLease): Promise<boolean> | undefined {
    if (lease.key === undefined) return undefined;
    this.#busy.add(lease.key);
    const isAsked = this.#deps.store.holdKey !== undefined || lease.newest !== undefined;
    return isAsked ? this.#ask(lease, lease.key) : undefined;
  }

  leave({ key }: GatedWork): void {
    if (key !== undefined) this.#busy.delete(key);
  }

  /** The store refuses the key, which is taken, and then the work waits there. */
  overflow(lease: WindowLease, others: number): Promise<unknown> | undefined {
    if (lease.key === undefined || others < this.#window.roomForKey) return undefined;
    return this.#ask(lease, lease.key);
  }

  /** False also where the answer is not known. Never rejects. */
  async #ask(lease: WindowLease, key: string): Promise<boolean> {
    const { store, clock, logger } = this.#deps;
    const { seq, handler, token, newest } = lease;
    const held = { seq, handler, token };
    try {
      const isFree = (await store.holdKey?.(held, key)) !== false;
      // Once it has the key: no other work of it begins meanwhile.
      const isOver =
        isFree && newest !== undefined && (await store.beginNewest(held, newest, clock.now())) !== "newest";
      if (isFree && !isOver) return true;
      this.#window.leave(lease, { waitsForKey: !isFree });
    } catch (error) {
      logger.error({ handler, ...errorFields(error, true) }, "handler_queue_failed");
    }
    return false;
  }
}
