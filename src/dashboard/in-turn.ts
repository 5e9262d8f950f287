/** Runs one call after the other; `run` rejects with what `refuse` makes while too many wait. */
export class InTurn {
  readonly #most: number;
  readonly #refuse: () => Error;
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(most: number, refuse: () => Error) {
    this.#most = most;
    this.#refuse = refuse;
  }

  async run<Value>(call: () => Promise<Value>): Promise<Value> {
    if (this.#waiting >= this.#most) throw this.#refuse();
    this.#waiting += 1;
    const before = this.#last;
    const result = before.then(call);
    this.#last = result.catch(() => undefined);
    try {
      return await result;
    } finally {
      this.#waiting -= 1;
    }
  }
}
