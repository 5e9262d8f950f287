/** Bytes that the bodies of all deliveries under way may hold together. */
export class BodyBudget {
  #free: number;

  constructor(limitBytes: number) {
    this.#free = limitBytes;
  }

  /** False when so many bytes are not free; nothing is taken then. */
  take(bytes: number): boolean {
    if (bytes > this.#free) return false;
    this.#free -= bytes;
    return true;
  }

  give(bytes: number): void {
    this.#free += bytes;
  }
}

/** What one delivery has taken of the budget. */
export class BodyShare {
  readonly #budget: BodyBudget;
  /** Whether the bytes are taken as they come, and not all at once. */
  readonly countsChunks: boolean;
  #taken = 0;
  #isEnded = false;

  constructor(budget: BodyBudget, { countsChunks }: { countsChunks: boolean }) {
    this.#budget = budget;
    this.countsChunks = countsChunks;
  }

  take(bytes: number): boolean {
    // What still comes of a delivery that was answered is thrown away.
    if (this.#isEnded) return true;
    if (!this.#budget.take(bytes)) return false;
    this.#taken += bytes;
    return true;
  }

  end(): void {
    this.#isEnded = true;
    this.#budget.give(this.#taken);
  }
}
