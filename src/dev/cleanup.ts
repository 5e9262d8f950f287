/** Cleanup steps, run in reverse order. */
export class Cleanup {
  readonly #steps: (() => unknown)[] = [];

  add(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** Runs every step once, also after one that fails. */
  async run(): Promise<void> {
    for (const step of this.#steps.splice(0).toReversed()) {
      try {
        await step();
      } catch {
        // The others still have to be undone.
      }
    }
  }
}
