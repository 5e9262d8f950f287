/** Lets one item per key through at a time, in the order of arrival. */
export class KeyedOrder {
  /** Those that wait behind the current one, by key. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #count = 0;

  /** How many wait, of all keys. */
  get count(): number {
    return this.#count;
  }

  /** True while an item of the key has its turn. */
  isBusy(key: string): boolean {
    return this.#waiting.has(key);
  }

  /** Resolves when it is this one's turn; undefined when that is now. Each turn is followed by one `leave`. */
  enter(key: string): Promise<void> | undefined {
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) {
      this.#count += 1;
      return new Promise((resolve) => waiting.push(resolve));
    }
    this.#waiting.set(key, []);
    return undefined;
  }

  /** The current one has ended; the next of its key gets its turn. */
  leave(key: string): void {
    const next = this.#waiting.get(key)?.shift();
    if (next === undefined) {
      this.#waiting.delete(key);
      return;
    }
    this.#count -= 1;
    next();
  }

  /** Those that wait never get their turn. */
  clear(): void {
    this.#waiting.clear();
    this.#count = 0;
  }
}
