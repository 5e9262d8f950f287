import { PigeonholeError } from "../base/error.js";
import type { ReceiverState } from "./receiver.js";

export interface LifecycleSteps {
  /**
   * Run one after the other at start; none starts once `stop` was called. `stopAsked` resolves when `stop` is called,
   * so that a step can end its wait.
   */
  start: readonly ((stopAsked: Promise<void>) => unknown)[];
  /** Runs after a failed start, with its error: closes what it opened, so that another receiver can open it. */
  release: (cause: unknown) => Promise<void>;
  /** Runs after the start has ended, with or without success. */
  stop: (timeoutMs: number) => Promise<void>;
}

/**
 * Takes a receiver from one state to the next. Each transition happens once, also when it is asked for several times.
 */
export class Lifecycle {
  /** Holds the state, because it decides which deliveries can be taken. */
  readonly #admission: { state: ReceiverState };
  readonly #steps: LifecycleSteps;
  #starting: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;
  #noteStop: () => void = () => undefined;
  readonly #stopAsked: Promise<void>;

  constructor(admission: { state: ReceiverState }, steps: LifecycleSteps) {
    this.#admission = admission;
    this.#steps = steps;
    this.#stopAsked = new Promise((resolve) => (this.#noteStop = resolve));
  }

  start(): Promise<void> {
    const { state } = this.#admission;
    if (state === "stopping" || state === "stopped") {
      return Promise.reject(new PigeonholeError("stopped", "The receiver was stopped; create a new one."));
    }
    this.#starting ??= this.#start();
    return this.#starting;
  }

  stop(timeoutMs: number): Promise<void> {
    this.#stopping ??= this.#stop(timeoutMs);
    return this.#stopping;
  }

  async #start(): Promise<void> {
    this.#admission.state = "starting";
    try {
      for (const step of this.#steps.start) {
        if (this.#isToStop) return;
        await step(this.#stopAsked);
      }
      if (this.#isToStop) return;
      this.#admission.state = "running";
    } catch (error) {
      // The first error is more useful than an error of the cleanup.
      await this.#steps.release(error).catch(() => undefined);
      this.#starting = undefined;
      if (!this.#isToStop) this.#admission.state = "new";
      throw error;
    }
  }

  async #stop(timeoutMs: number): Promise<void> {
    this.#admission.state = "stopping";
    this.#noteStop();
    try {
      await this.#starting?.catch(() => undefined);
      await this.#steps.stop(timeoutMs);
    } finally {
      this.#admission.state = "stopped";
    }
  }

  get #isToStop(): boolean {
    return this.#stopping !== undefined || this.#admission.state === "stopping";
  }
}
