import type { Clock, Timer } from "../base/clock.js";
import type { Credential } from "./credential.js";
import { connectionFailed, noAnswerInTime } from "./no-answer.js";
import { copyPrintableCause } from "./printable-cause.js";

export interface ApiExchangeInput {
  /** Name of the call, for errors. */
  call: string;
  /** The caller's; it ends the exchange at any point. */
  signal: AbortSignal | undefined;
  clock: Clock;
  credential: Credential;
  /** Longest time of one stretch, in milliseconds. */
  timeoutMs: number;
}

const timedOut = Symbol("timed out");

/** One request and its answer. The time-out applies to each stretch, and a transfer of bytes has many of them. */
export class ApiExchange {
  readonly #input: ApiExchangeInput;
  readonly #controller = new AbortController();
  #timer: Timer | undefined;
  #giveUp: ((reason: Error) => void) | undefined;
  #isOver = false;

  constructor(input: ApiExchangeInput) {
    this.#input = input;
    // Not AbortSignal.any: on Node 20 a long-lived signal keeps the signals made from it in memory.
    input.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** For fetch. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * Runs one stretch. Rejects with NoAnswerError, or with the reason of the caller's signal when it is aborted, even if
   * `work` ignores the signal.
   */
  async run<Value>(work: () => Promise<Value>): Promise<Value> {
    const { signal } = this.#input;
    signal?.throwIfAborted();
    this.beginStretch();
    try {
      return await new Promise<Value>((resolve, reject) => {
        this.#giveUp = reject;
        work().then(resolve, reject);
      });
    } catch (error) {
      throw this.#explain(error);
    } finally {
      this.pause();
    }
  }

  /** The time-out begins again, since bytes were moved. */
  beginStretch(): void {
    this.pause();
    // The source of an upload may give bytes that came too late.
    if (this.#isOver) return;
    const { clock, timeoutMs } = this.#input;
    this.#timer = clock.setTimer(() => this.#abort(timedOut), timeoutMs);
  }

  /** No time-out from now on: what follows is the caller's time. */
  pause(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Neither a time-out nor the caller's signal has an effect from now on. */
  end(): void {
    this.#isOver = true;
    this.pause();
    this.#input.signal?.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = (): void => this.#abort(this.#input.signal?.reason);

  #abort(reason: unknown): void {
    this.#controller.abort(reason);
    this.#giveUp?.(reason as Error);
  }

  #explain(error: unknown): unknown {
    const { call, signal, timeoutMs, credential } = this.#input;
    if (signal?.aborted === true) return signal.reason;
    if (this.#controller.signal.reason === timedOut) return noAnswerInTime(call, timeoutMs);
    return connectionFailed(
      call,
      copyPrintableCause(error, (text) => credential.redact(text)),
    );
  }
}
