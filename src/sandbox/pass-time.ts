import { setImmediate } from "node:timers/promises";
import { readDuration } from "../base/duration-text.js";
import { PigeonholeError } from "../base/error.js";
import type { ManualClock } from "../base/manual-clock.js";
import type { AttemptQueue } from "./delivery/attempt-queue.js";
import { LATEST_MS } from "./latest-time.js";
import type { SandboxTime } from "./sandbox-time.js";

/** Moves a manual clock from one timer to the next, and lets the attempts of each moment have their answers first. */
export class PassTime {
  readonly #time: SandboxTime;
  readonly #queue: AttemptQueue;
  readonly #onAdvance: (byMs: number) => void;
  /** One at a time: two that move one clock would skip each other's attempts. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(time: SandboxTime, queue: AttemptQueue, onAdvance: (byMs: number) => void) {
    this.#time = time;
    this.#queue = queue;
    this.#onAdvance = onAdvance;
  }

  /** Lets so much time pass, all attempts that come due in it included. Throws `invalid_argument` unless the clock is manual. */
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
   * Lets time pass until what `nextMs` names, by the manual clock's elapsed time; gives the milliseconds, or undefined where it
   * names nothing. It is asked when the turn has come: whoever was before may have passed it already.
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

  /** Waits for the answers to whatever is due now, or hangs. */
  async settle(): Promise<void> {
    await this.#quiet();
  }

  /** Waits for a promise. Under a manual clock time passes meanwhile, timer by timer, since somebody waits. */
  async until<Value>(promise: Promise<Value>): Promise<Value> {
    const { manual } = this.#time;
    if (manual === undefined) return promise;
    let isPending = true;
    const settled = promise.finally(() => (isPending = false));
    // Whoever called hears of a rejection below; until then it must not count as unheard.
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

  /** Moves the clock; what comes due has its answers when this resolves. */
  async #step(manual: ManualClock, ms: number): Promise<void> {
    requireDate(manual, ms);
    await manual.advance(ms);
    await this.#quiet();
  }

  /** What an answer sets going may take some turns until it plans more. */
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
  if (manual.now() + ms <= LATEST_MS) return;
  throw new PigeonholeError("invalid_argument", `The clock cannot advance by ${ms} ms: no date lies so far ahead.`);
}
