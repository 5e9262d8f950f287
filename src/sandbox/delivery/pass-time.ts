import { setImmediate } from "node:timers/promises";
import { readDuration } from "../../base/duration.js";
import { PigeonholeError } from "../../base/error.js";
import type { AdvanceableClock } from "../clock/advanceable-clock.js";
import type { AttemptQueue } from "./attempt-queue.js";
import { LATEST_TIME, type SandboxTime } from "../clock/sandbox-time.js";

/** Moves a clock from one timer to the next. The attempts of each moment are answered first. */
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
   * Advances the time by this much and runs all attempts that become due. Throws `invalid_argument` for a clock
   * that cannot be moved.
   */
  async advance(by: number | string): Promise<void> {
    const ms = readDuration(by);
    requireDate(this.#requireAdvanceable("advance"), ms);
    await this.advanceTo((elapsedMs) => elapsedMs + ms);
  }

  /**
   * Advances the time to the elapsed time that `nextMs` returns. Resolves with the milliseconds passed, or with
   * undefined if it returns none. `nextMs` is called when earlier calls are done, since these may have passed that time
   * already.
   */
  async advanceTo(nextMs: (elapsedMs: number) => number | undefined): Promise<number | undefined> {
    const clock = this.#requireAdvanceable("advanceToNextAttempt");
    const byMs = await this.#inTurn(async () => {
      await this.settle();
      const { elapsedMs } = clock;
      const dueMs = nextMs(elapsedMs);
      if (dueMs === undefined) return undefined;
      const ms = Math.max(0, dueMs - elapsedMs);
      await this.#pass(clock, ms);
      return ms;
    });
    if (byMs !== undefined) this.#onAdvance(byMs);
    return byMs;
  }

  /**
   * Waits until every attempt due now is answered or hangs. Work after an answer may take some turns of the event loop
   * until it plans more.
   */
  async settle(): Promise<void> {
    await this.#queue.settled();
    await setImmediate();
    await this.#queue.settled();
  }

  /** Waits for a promise. With a manual clock, time passes meanwhile, timer by timer. */
  async until<Value>(promise: Promise<Value>): Promise<Value> {
    const { advanceable: clock, isManual } = this.#time;
    if (clock === undefined || !isManual) return promise;
    let isPending = true;
    const settled = promise.finally(() => (isPending = false));
    // The caller receives a rejection below. Until then it must not be reported as unhandled.
    settled.catch(() => {});
    for (;;) {
      await this.settle();
      if (!isPending) return settled;
      await this.#inTurn(async () => {
        const stepMs = clock.nextTimerInMs;
        if (isPending && stepMs !== undefined) await this.#step(clock, stepMs);
      });
      if (isPending && clock.nextTimerInMs === undefined) return settled;
    }
  }

  #requireAdvanceable(call: string): AdvanceableClock {
    const { advanceable } = this.#time;
    if (advanceable !== undefined) return advanceable;
    throw new PigeonholeError(
      "invalid_argument",
      `${call} needs a sandbox with the option clock: "manual" or "advanceable".`,
    );
  }

  /** Moves the clock from timer to timer. */
  async #pass(clock: AdvanceableClock, ms: number): Promise<void> {
    const untilMs = clock.elapsedMs + ms;
    for (let stepMs = clock.nextTimerInMs; stepMs !== undefined; stepMs = clock.nextTimerInMs) {
      if (clock.elapsedMs + stepMs > untilMs) break;
      await this.#step(clock, stepMs);
    }
    await this.#step(clock, Math.max(0, untilMs - clock.elapsedMs));
  }

  /** Moves the clock. Attempts that become due are answered when this resolves. */
  async #step(clock: AdvanceableClock, ms: number): Promise<void> {
    requireDate(clock, ms);
    await clock.advance(ms);
    await this.settle();
  }

  async #inTurn<Value>(run: () => Promise<Value>): Promise<Value> {
    const turn = this.#turn.then(run);
    this.#turn = turn.catch(() => {});
    return turn;
  }
}

function requireDate(clock: AdvanceableClock, ms: number): void {
  if (clock.now() + ms <= LATEST_TIME) return;
  throw new PigeonholeError(
    "invalid_argument",
    `The clock cannot advance by ${ms} ms: that is after the last possible date.`,
  );
}
