import { SideBySide } from "../web/side-by-side.js";

/** Runs one call after the other; `run` rejects with what `refuse` makes while too many wait. */
export class InTurn {
  readonly #places: SideBySide;
  #last: Promise<unknown> = Promise.resolve();

  constructor(most: number, refuse: () => Error) {
    this.#places = new SideBySide(most, refuse);
  }

  run<Value>(call: () => Promise<Value>): Promise<Value> {
    return this.#places.run(() => {
      const result = this.#last.then(call);
      this.#last = result.catch(() => undefined);
      return result;
    });
  }
}
