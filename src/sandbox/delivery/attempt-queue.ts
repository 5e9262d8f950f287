export interface AttemptQueueOptions {
  /** Most attempts that run at the same time. */
  atOnce: number;
  /**
   * Real milliseconds after which an attempt without an answer counts as hanging: others start, and it is not waited
   * for. Undefined if time passes by itself, so that a timeout ends every attempt.
   */
  patienceMs: number | undefined;
}

/** Runs attempts in the order in which they became due, and knows when all are answered. */
export class AttemptQueue {
  readonly #options: AttemptQueueOptions;
  #waiting: (() => Promise<void>)[] = [];
  readonly #running = new Set<{ startedAt: number; hangs: boolean }>();
  #onSettled: (() => void)[] = [];
  #isWatching = false;

  constructor(options: AttemptQueueOptions) {
    this.#options = options;
  }

  /** Queues an attempt. `run` must not reject. */
  add(run: () => Promise<void>): void {
    this.#waiting.push(run);
    this.#pump();
  }

  /** Resolves when none waits and every running attempt hangs. */
  settled(): Promise<void> {
    if (this.#isSettled()) return Promise.resolve();
    return new Promise((resolve) => void this.#onSettled.push(resolve));
  }

  /** Drops waiting attempts. Running ones continue. */
  clear(): void {
    this.#waiting = [];
    this.#pump();
  }

  #pump(): void {
    while (this.#busy() < this.#options.atOnce) {
      const run = this.#waiting.shift();
      if (run === undefined) break;
      void this.#start(run);
    }
    if (!this.#isSettled()) return;
    const waiters = this.#onSettled;
    this.#onSettled = [];
    for (const resolve of waiters) resolve();
  }

  async #start(run: () => Promise<void>): Promise<void> {
    const running = { startedAt: performance.now(), hangs: false };
    this.#running.add(running);
    this.#watch();
    try {
      await run();
    } finally {
      this.#running.delete(running);
      this.#pump();
    }
  }

  /**
   * With a clock that stands still, only real time can distinguish a hanging receiver from a slow one. Real time is
   * used only here, and only hanging receivers depend on it.
   */
  #watch(): void {
    const { patienceMs } = this.#options;
    if (patienceMs === undefined || this.#isWatching || this.#busy() === 0) return;
    this.#isWatching = true;
    AbortSignal.timeout(patienceMs).addEventListener("abort", () => {
      this.#isWatching = false;
      const latest = performance.now() - patienceMs;
      for (const running of this.#running) running.hangs ||= running.startedAt <= latest + 1;
      this.#watch();
      this.#pump();
    });
  }

  #busy(): number {
    let busy = 0;
    for (const { hangs } of this.#running) busy += hangs ? 0 : 1;
    return busy;
  }

  #isSettled(): boolean {
    return this.#waiting.length === 0 && this.#busy() === 0;
  }
}
