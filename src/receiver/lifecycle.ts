import { PigeonholeError } from "../base/error.js";
import type { ReceiverState } from "./receiver.js";

export interface LifecycleSteps {
  /**
   * Run one after the other at start; none is begun once the receiver is to stop. `stopAsked` resolves when `stop` is called, for what a
   * step may otherwise wait for in vain.
   */
  start: readonly ((stopAsked: Promise<void>) => unknown)[];
  /** After a start that failed: closes what it had opened, so that nobody else is kept from it. */
  giveUp: () => Promise<void>;
  /** Runs after a start has come to its end, whatever that was. */
  stop: (timeoutMs: number) => Promise<void>;
}

/** The ways of a receiver from one state of its life to the next: each is gone once, whoever asks, and however often. */
export class Lifecycle {
  /** Knows the state, since it decides what can be taken. */
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
      // The first error tells more than what came of it.
      await this.#steps.giveUp().catch(() => undefined);
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
