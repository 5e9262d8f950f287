import { isPigeonholeError } from "../base/error.js";

/** How much goes into one batch. */
export interface BatchLimits<Item> {
  maxItems: number;
  maxBytes: number;
  bytesOf: (item: Item) => number;
}

/** Each item's result, or a promise of it for an item that takes longer than the others. */
type RunBatch<Item, Result> = (items: readonly Item[]) => Promise<readonly (Result | Promise<Result>)[]>;

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result | Promise<Result>) => void;
  reject: (error: unknown) => void;
}

/**
 * Turns calls into batches without waiting for more of them: what arrives while one batch runs is the next one. A batch
 * that fails because of what is in it is run again one by one, so that an item fails alone.
 */
export class NaturalBatch<Item, Result> {
  readonly #run: RunBatch<Item, Result>;
  readonly #limits: BatchLimits<Item>;
  readonly #waiting: Waiting<Item, Result>[] = [];
  #isRunning = false;

  constructor(limits: BatchLimits<Item>, run: RunBatch<Item, Result>) {
    this.#limits = limits;
    this.#run = run;
  }

  /** Resolves with the item's result once its batch is written. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#isRunning) return;
      this.#isRunning = true;
      // Calls of the same turn of the event loop share a batch.
      setImmediate(() => void this.#runAll());
    });
  }

  async #runAll(): Promise<void> {
    while (this.#waiting.length > 0) await this.#runBatch(this.#take());
    this.#isRunning = false;
  }

  #take(): Waiting<Item, Result>[] {
    const { maxItems, maxBytes, bytesOf } = this.#limits;
    let [items, bytes] = [0, 0];
    for (const { item } of this.#waiting) {
      bytes += bytesOf(item);
      if (items === maxItems || (items > 0 && bytes > maxBytes)) break;
      items += 1;
    }
    return this.#waiting.splice(0, items);
  }

  async #runBatch(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result | Promise<Result>);
    } catch (error) {
      if (batch.length > 1 && isPigeonholeError(error, "store_failed")) {
        for (const one of batch) await this.#runBatch([one]);
      } else {
        for (const { reject } of batch) reject(error);
      }
    }
  }
}
