import type { Life } from "./life.js";
import type { WorldClock } from "./world-clock.js";

/** The disk of one process, which may take long for what a delivery writes. */
export class SlowDisk {
  readonly #life: Life;
  readonly #time: WorldClock;
  /** When it is through with what it was given before. */
  #throughMs = 0;

  constructor(life: Life, time: WorldClock) {
    this.#life = life;
    this.#time = time;
  }

  /** True when this call of the store has to wait. */
  delays(call: string): boolean {
    return call === "accept" && (this.#life.shared.slowMs > 0 || this.#throughMs > this.#time.elapsedMs);
  }

  /** Calls end in the order in which they came. */
  async wait(): Promise<void> {
    const { clock, shared } = this.#life;
    this.#throughMs = Math.max(this.#throughMs, this.#time.elapsedMs + shared.slowMs);
    const leftMs = this.#throughMs - this.#time.elapsedMs;
    // The receiver's own limit for an answer must be on time.
    clock.wake(leftMs);
    await new Promise<void>((resolve) => void this.#time.setTimer(resolve, leftMs));
  }
}
