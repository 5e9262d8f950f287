/** Lets one item per key through at a time, in the order of arrival. */
export class KeyedOrder {
  /** Those that wait behind the current one, by key. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Resolves when it is this one's turn; undefined when that is now. Each turn is followed by one `leave`. */
  enter(key: string): Promise<void> | undefined {
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) return new Promise((resolve) => waiting.push(resolve));
    this.#waiting.set(key, []);
    return undefined;
  }

  /** The current one has ended; the next of its key gets its turn. */
  leave(key: string): void {
    const next = this.#waiting.get(key)?.shift();
    if (next === undefined) this.#waiting.delete(key);
    else next();
  }

  /** Those that wait never get their turn. */
  clear(): void {
    this.#waiting.clear();
  }
}
