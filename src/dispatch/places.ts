/** The runs of one handler that wait for a place, in the order of arrival. */
type Waiting = (() => void)[];

/**
 * The places in which two or more handlers run. None may have more than half of them, also while no other has work: it
 * would keep them until its runs end. While several handlers wait, a free place goes to the one that has the fewest.
 */
export class Places {
  /** Most places of one handler. A single place is used by all in turn. */
  readonly share: number;
  readonly #occupied = new Map<string, number>();
  /** In the order of their last turns, so that handlers with equally many places take turns. */
  readonly #waiting = new Map<string, Waiting>();
  #free: number;

  constructor(count: number) {
    this.share = Math.max(1, Math.floor(count / 2));
    this.#free = count;
  }

  /** Resolves when the handler has a place; undefined when it has one now. Each place is freed by one `leave`. */
  enter(handler: string): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#take(handler);
      return undefined;
    }
    const waiting = this.#waiting.get(handler) ?? [];
    this.#waiting.set(handler, waiting);
    return new Promise((resolve) => waiting.push(resolve));
  }

  leave(handler: string): void {
    this.#occupied.set(handler, this.#placesOf(handler) - 1);
    this.#free += 1;
    const next = this.#nextHandler();
    if (next !== undefined) this.#admit(next);
  }

  #take(handler: string): void {
    this.#free -= 1;
    this.#occupied.set(handler, this.#placesOf(handler) + 1);
  }

  #admit(handler: string): void {
    const waiting = this.#waiting.get(handler) ?? [];
    const enter = waiting.shift();
    this.#waiting.delete(handler);
    if (waiting.length > 0) this.#waiting.set(handler, waiting);
    this.#take(handler);
    enter?.();
  }

  #nextHandler(): string | undefined {
    let next: string | undefined;
    for (const handler of this.#waiting.keys()) {
      if (next === undefined || this.#placesOf(handler) < this.#placesOf(next)) next = handler;
    }
    return next;
  }

  #placesOf(handler: string): number {
    return this.#occupied.get(handler) ?? 0;
  }
}
