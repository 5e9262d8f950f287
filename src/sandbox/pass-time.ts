import { setImmediate } from "node:timers/promises";
import { readDuration } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import type { ManualClock } from "../base/manual-clock.js";
import type { AttemptQueue } from "./delivery/attempt-queue.js";
import { LATEST_TIME } from "./latest-time.js";
import type { SandboxTime } from "./sandbox-time.js";

/** Moves a manual clock from one timer to the next. The attempts of each moment are answered first. */
export class PassTime {
  readonly #time: SandboxTime;
  readonly #queue: AttemptQueue;
  readonly #onAdvance: (byMs: number) => void;
  /** One at a time: two callers that move one clock would skip each other's attempts. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(time: SandboxTime, queue: AttemptQueue, onAdvance: (byMs: number) => void) {
    this.#time = time;
    this.#queue = queue;
    this.#onAdvance = onAdvance;
  }

  /**
   * Advances the time by this much and runs all attempts that become due. Throws `invalid_argument` unless the clock is
   * manual.
   */
  async advance(by: number | string): Promise<void> {
    const ms = readDuration(by);
    const manual = this.#requireManual("advance");
    requireDate(manual, ms);
    await this.#inTurn(async () => {
      await this.#quiet();
      await this.#pass(manual, ms);
    });
    this.#onAdvance(ms);
  }

  /**
   * Advances the time to the elapsed time that `nextMs` returns. Resolves with the milliseconds passed, or with
   * undefined if it returns none. `nextMs` is called when earlier calls are done, since these may have passed that time
   * already.
   */
  async advanceTo(nextMs: () => number | undefined): Promise<number | undefined> {
    const manual = this.#requireManual("advanceToNextAttempt");
    const byMs = await this.#inTurn(async () => {
      await this.#quiet();
      const dueMs = nextMs();
      if (dueMs === undefined) return undefined;
      const ms = Math.max(0, dueMs - manual.elapsedMs);
      await this.#pass(manual, ms);
      return ms;
    });
    if (byMs !== undefined) this.#onAdvance(byMs);
    return byMs;
  }

  /** Waits until every attempt due now is answered or hangs. */
  async settle(): Promise<void> {
    await this.#quiet();
  }

  /** Waits for a promise. With a manual clock, time passes meanwhile, timer by timer. */
  async until<Value>(promise: Promise<Value>): Promise<Value> {
    const { manual } = this.#time;
    if (manual === undefined) return promise;
    let isPending = true;
    const settled = promise.finally(() => (isPending = false));
    // The caller receives a rejection below. Until then it must not be reported as unhandled.
    settled.catch(() => {});
    for (;;) {
      await this.#quiet();
      if (!isPending) return settled;
      await this.#inTurn(async () => {
        const stepMs = manual.nextTimerInMs;
        if (isPending && stepMs !== undefined) await this.#step(manual, stepMs);
      });
      if (isPending && manual.nextTimerInMs === undefined) return settled;
    }
  }

  #requireManual(call: string): ManualClock {
    const { manual } = this.#time;
    if (manual !== undefined) return manual;
    throw new PigeonholeError("invalid_argument", `${call} needs a sandbox with the option clock: "manual".`);
  }

  /** Moves the clock from timer to timer. */
  async #pass(manual: ManualClock, ms: number): Promise<void> {
    const untilMs = manual.elapsedMs + ms;
    for (let stepMs = manual.nextTimerInMs; stepMs !== undefined; stepMs = manual.nextTimerInMs) {
      if (manual.elapsedMs + stepMs > untilMs) break;
      await this.#step(manual, stepMs);
    }
    await this.#step(manual, Math.max(0, untilMs - manual.elapsedMs));
  }

  /** Moves the clock. Attempts that become due are answered when this resolves. */
  async #step(manual: ManualClock, ms: number): Promise<void> {
    requireDate(manual, ms);
    await manual.advance(ms);
    await this.#quiet();
  }

  /** Work after an answer may take some turns of the event loop until it plans more. */
  async #quiet(): Promise<void> {
    await this.#queue.settled();
    await setImmediate();
    await this.#queue.settled();
  }

  async #inTurn<Value>(run: () => Promise<Value>): Promise<Value> {
    const turn = this.#turn.then(run);
    this.#turn = turn.catch(() => {});
    return turn;
  }
}

function requireDate(manual: ManualClock, ms: number): void {
  if (manual.now() + ms <= LATEST_TIME) return;
  throw new PigeonholeError(
    "invalid_argument",
    `The clock cannot advance by ${ms} ms: that is after the last possible date.`,
  );
}
