import type { Gate, GatedWork, WindowLease } from "../gate.js";
import type { LeaseWindow } from "../lease-window.js";
import type { Leases } from "../leases.js";

/** Other work of the handler with the same key runs, here or in another process. One gate per handler. */
export class KeyGate implements Gate {
  readonly name = "key";
  readonly keeps = "work";
  readonly #window: LeaseWindow;
  readonly #leases: Leases;
  readonly #busy = new Set<string>();

  constructor(window: LeaseWindow, leases: Leases) {
    this.#window = window;
    this.#leases = leases;
  }

  allows({ key }: GatedWork): boolean {
    return key === undefined || !this.#busy.has(key);
  }

  enter(lease: WindowLease): Promise<boolean> | undefined {
    if (lease.key === undefined) return undefined;
    this.#busy.add(lease.key);
    const isAsked = this.#leases.shareKeys || lease.newest !== undefined;
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

  async #ask(lease: WindowLease, key: string): Promise<boolean> {
    const answer = await this.#leases.askForKey(lease, key);
    if (answer === "waits" || answer === "ended") this.#window.leave(lease, { waitsForKey: answer === "waits" });
    return answer === "begins";
  }
}
