import { PigeonholeError } from "../base/error.js";
import type { ReceiverState } from "./receiver.js";

export interface LifecycleSteps {
  /** Run one after the other at start; none is begun once the receiver is to stop. */
  start: readonly (() => unknown)[];
  /** After a start that failed: closes what it had opened, so that nobody else is kept from it. */
  giveUp: () => Promise<void>;
  /** Runs after a start has come to its end, whatever that was. */
  stop: (timeoutMs: number) => Promise<void>;
}

/** Where a receiver is in its life, and the ways from one state to the next: each is gone once, whoever asks, and however often. */
export class Lifecycle {
  readonly #steps: LifecycleSteps;
  #state: ReceiverState = "new";
  #hasStarted = false;
  #starting: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;
  #noteStop: () => void = () => undefined;
  /** Resolves when `stop` is called, for what a start may otherwise wait for in vain. */
  readonly stopAsked: Promise<void>;

  constructor(steps: LifecycleSteps) {
    this.#steps = steps;
    this.stopAsked = new Promise((resolve) => (this.#noteStop = resolve));
  }

  get state(): ReceiverState {
    return this.#state;
  }

  /** True once a start has come to its end well: also while it stops, what arrives can be verified and the store may still take it. */
  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  /** A start that is under way; never rejects. */
  async startEnded(): Promise<void> {
    await this.#starting?.catch(() => undefined);
  }

  start(): Promise<void> {
    if (this.#state === "stopping" || this.#state === "stopped") {
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
    this.#state = "starting";
    try {
      for (const step of this.#steps.start) {
        if (this.#isToStop) return;
        await step();
      }
      if (this.#isToStop) return;
      this.#hasStarted = true;
      this.#state = "running";
    } catch (error) {
      // The first error tells more than what came of it.
      await this.#steps.giveUp().catch(() => undefined);
      this.#starting = undefined;
      if (!this.#isToStop) this.#state = "new";
      throw error;
    }
  }

  async #stop(timeoutMs: number): Promise<void> {
    this.#state = "stopping";
    this.#noteStop();
    try {
      await this.startEnded();
      await this.#steps.stop(timeoutMs);
    } finally {
      this.#state = "stopped";
    }
  }

  get #isToStop(): boolean {
    return this.#stopping !== undefined || this.#state === "stopping";
  }
}
