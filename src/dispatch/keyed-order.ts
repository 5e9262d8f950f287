/** Lets one item per key through at a time, in the order of arrival; items without a key pass at once. */
export class KeyedOrder<Item> {
  readonly #pass: (item: Item) => void;
  readonly #waiting = new Map<string, Item[]>();
  readonly #keys = new Map<Item, string>();

  constructor(pass: (item: Item) => void) {
    this.#pass = pass;
  }

  add(item: Item, key: string | undefined): void {
    if (key === undefined) return this.#pass(item);
    this.#keys.set(item, key);
    const behind = this.#waiting.get(key);
    if (behind !== undefined) {
      behind.push(item);
      return;
    }
    this.#waiting.set(key, []);
    this.#pass(item);
  }

  /** The item has ended; the next of its key passes. */
  end(item: Item): void {
    const key = this.#keys.get(item);
    if (key === undefined) return;
    this.#keys.delete(item);
    const next = this.#waiting.get(key)?.shift();
    if (next === undefined) this.#waiting.delete(key);
    else this.#pass(next);
  }

  clear(): void {
    this.#waiting.clear();
    this.#keys.clear();
  }
}
