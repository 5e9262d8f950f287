/** Runs calls side by side; `run` rejects with what `refuse` makes while so many run. */
export class SideBySide {
  readonly #most: number;
  readonly #refuse: () => Error;
  #running = 0;

  constructor(most: number, refuse: () => Error) {
    this.#most = most;
    this.#refuse = refuse;
  }

  async run<Value>(call: () => Promise<Value>): Promise<Value> {
    if (this.#running >= this.#most) throw this.#refuse();
    this.#running += 1;
    try {
      return await call();
    } finally {
      this.#running -= 1;
    }
  }
}
