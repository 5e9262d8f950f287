import type { Gate, GatedWork } from "../gate.js";

/**
 * The places in which two or more handlers run are all taken. None may have more than half of them, also while no other
 * has work: it would keep them until its runs end.
 */
export class FairShareGate implements Gate {
  readonly name = "fair_share";
  readonly keeps = "handler";
  /** Most places of one handler. A single place is used by all in turn. */
  readonly share: number;
  readonly #taken = new Map<string, number>();
  #free: number;

  constructor(places: number) {
    this.share = Math.max(1, Math.floor(places / 2));
    this.#free = places;
  }

  allows(): boolean {
    return this.#free > 0;
  }

  enter({ handler }: GatedWork): undefined {
    this.#free -= 1;
    this.#taken.set(handler, this.placesOf(handler) + 1);
  }

  leave({ handler }: GatedWork): void {
    this.#free += 1;
    this.#taken.set(handler, this.placesOf(handler) - 1);
  }

  /** While several handlers wait, a free place goes to the one that has the fewest. */
  placesOf(handler: string): number {
    return this.#taken.get(handler) ?? 0;
  }
}
