import type { RunOutcome } from "./run-observer.js";

/** How the runs of a dispatcher have ended, and when nothing may be left to do. */
export class RunProgress {
  /** Runs since the start, by how they ended. */
  readonly outcomes: Record<RunOutcome, number> = { done: 0, retry: 0, dead: 0, interrupted: 0, lost: 0 };
  #waiting: (() => void)[] = [];

  /** Something has changed that may leave nothing to do. */
  noteChange(): void {
    if (this.#waiting.length > 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves at the next change. */
  untilChanged(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
