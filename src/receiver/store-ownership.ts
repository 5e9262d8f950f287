import { PigeonholeError } from "../base/error.js";
import type { Store, StoreContext } from "../store/store.js";

/** Stores that a receiver of this process has opened. */
const owned = new WeakSet<Store<unknown>>();

/** A receiver's exclusive use of its store: only the receiver that opened it closes it. */
export class StoreOwnership {
  readonly #store: Store<unknown>;
  #isOwner = false;

  constructor(store: Store<unknown>) {
    this.#store = store;
  }

  /** Rejects with `invalid_option` while another receiver uses the store, since that one would close it. */
  async open(context: StoreContext): Promise<void> {
    if (owned.has(this.#store)) {
      throw new PigeonholeError(
        "invalid_option",
        "The store is in use by another receiver of this process, which closes it when it stops. Give each receiver its own Store.",
      );
    }
    owned.add(this.#store);
    this.#isOwner = true;
    await this.#store.open(context);
  }

  /** Does not close a store that this receiver has not opened. */
  async close(): Promise<void> {
    if (!this.#isOwner) return;
    this.#isOwner = false;
    await this.#store.close().finally(() => owned.delete(this.#store));
  }
}
