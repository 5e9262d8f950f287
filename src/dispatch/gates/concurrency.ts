import type { Gate } from "../gate.js";

/** As many runs of the handler as it may have at once are under way. One gate per handler. */
export class ConcurrencyGate implements Gate {
  readonly name = "concurrency";
  readonly keeps = "handler";
  readonly #max: number;
  #running = 0;

  constructor(max: number) {
    this.#max = max;
  }

  allows(): boolean {
    return this.#running < this.#max;
  }

  enter(): undefined {
    this.#running += 1;
  }

  leave(): void {
    this.#running -= 1;
  }
}
