import type { Gate } from "../gate.js";

/**
 * As many runs are under way at once as may be: those of one handler, each with a gate of its own, or those of two and
 * more handlers together.
 */
export class PlacesGate implements Gate {
  readonly keeps = "handler";
  readonly name: "concurrency" | "fair_share";
  readonly max: number;
  taken = 0;

  constructor(name: PlacesGate["name"], max: number) {
    this.name = name;
    this.max = max;
  }

  allows(): boolean {
    return this.taken < this.max;
  }

  enter(): undefined {
    this.taken += 1;
  }

  leave(): void {
    this.taken -= 1;
  }
}
