/** Runs calls side by side; `run` rejects with what `refuse` makes while so many run, or so many of one person. */
export class SideBySide {
  readonly #most: number;
  readonly #mostOfOne: number;
  readonly #refuse: () => Error;
  /** Of whom they are. */
  readonly #running: string[] = [];

  constructor(most: number, refuse: () => Error, mostOfOne = most) {
    this.#most = most;
    this.#mostOfOne = mostOfOne;
    this.#refuse = refuse;
  }

  async run<Value>(call: () => Promise<Value>, person = ""): Promise<Value> {
    const own = this.#running.filter((each) => each === person).length;
    if (this.#running.length >= this.#most || own >= this.#mostOfOne) throw this.#refuse();
    this.#running.push(person);
    try {
      return await call();
    } finally {
      this.#running.splice(this.#running.indexOf(person), 1);
    }
  }
}
