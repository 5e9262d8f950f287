import type { Clock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { PigeonholeError, isPigeonholeError } from "../base/error.js";
import { inTime } from "../base/in-time.js";
import type { Logger } from "../base/logger.js";
import type { Random } from "../base/random.js";
import { sleep } from "../base/sleep.js";
import type { Client } from "../client/call-types.js";
import type { Store } from "../store/store.js";
import type { LeasedWork, Settlement } from "../store/work.js";
import { RunContext } from "./context.js";
import { errorFields } from "../base/error-fields.js";
import type { RegisteredHandler } from "./handler.js";
import type { ReadyWork } from "./handler-queue.js";
import { type RunEnd, runHandler, settlementOf } from "./run-handler.js";
import type { RunObserver, RunOutcome } from "./run-observer.js";

/** A busy store is asked again to take a settlement; the lease is renewed meanwhile. */
const SETTLE_RETRY_MS = SECOND;
const SETTLE_TRIES = 60;

export interface RunnerDeps {
  store: Store;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** Undefined while nobody looks on. */
  observer: () => RunObserver | undefined;
  source: string;
  /** The receiver's client; undefined when it has none. */
  api: Client | undefined;
  logErrorMessages: boolean;
  /** Work that failed is due again at that time. */
  onRetry: (handler: string, dueAt: number) => void;
  /** There are contact events to send. */
  onRecorded: () => void;
}

/** Runs leased work: handler first, then the settlement that the store keeps. */
export class Runner {
  readonly #deps: RunnerDeps;
  readonly #stops = new Set<(reason: Error) => void>();
  readonly #unsettled = new Set<Promise<void>>();

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
  }

  /** Runs one piece of work. `onEnd` is called when the handler has ended; resolves when the work is settled. */
  async run(ready: ReadyWork, handler: RegisteredHandler, onEnd: () => void): Promise<void> {
    const settled = this.#run(ready, handler, onEnd);
    this.#unsettled.add(settled);
    await settled;
    this.#unsettled.delete(settled);
  }

  /** Resolves when nothing runs and everything is settled, or after `timeoutMs`. */
  async drain(timeoutMs: number): Promise<void> {
    await inTime(Promise.all(this.#unsettled), this.#deps.clock, timeoutMs);
  }

  /** Aborts what still runs; its work becomes pending again. Resolves when that is settled. */
  async abort(): Promise<void> {
    const reason = new PigeonholeError("stopped", "The receiver stopped before the handler was done; it runs again.");
    for (const stop of this.#stops) stop(reason);
    await Promise.all(this.#unsettled);
  }

  async #run(ready: ReadyWork, handler: RegisteredHandler, onEnd: () => void): Promise<void> {
    const observer = this.#deps.observer();
    if (observer === undefined) {
      await this.#runAndSettle(ready, handler, onEnd);
      return;
    }
    const { work, event } = ready;
    const info = { handler: handler.name, eventType: event.type, eventId: work.eventId, attempt: work.attempt };
    await observer.observeRun(info, () => this.#runAndSettle(ready, handler, onEnd));
  }

  async #runAndSettle(ready: ReadyWork, handler: RegisteredHandler, onEnd: () => void): Promise<RunOutcome> {
    const { work, event } = ready;
    const { clock } = this.#deps;
    const context = new RunContext(work, event, this.#deps);
    let stop: ((reason: Error) => void) | undefined;
    const onStop = (give: (reason: Error) => void): unknown => this.#stops.add((stop = give));
    const end = await runHandler({ handler, event, context, clock, onStop });
    if (stop !== undefined) this.#stops.delete(stop);
    onEnd();
    return this.#settle(end, work, handler, context);
  }

  async #settle(end: RunEnd, work: LeasedWork, handler: RegisteredHandler, context: RunContext): Promise<RunOutcome> {
    const records = context.end();
    if (end.kind === "committed") {
      if (records !== undefined) this.#deps.onRecorded();
      return "done";
    }
    if (end.kind === "lost") return this.#lost(work);
    const { clock, random } = this.#deps;
    const dropSteps = context.mayHaveSteps;
    const settlement = settlementOf(end, { work, handler, dropSteps, records, now: clock.now(), random });
    if (end.kind !== "done") this.#logFailure(work, settlement, end.error);
    if (!(await this.#keep(settlement))) return this.#lost(work);
    if (settlement.to === "pending") this.#deps.onRetry(work.handler, settlement.dueAt);
    if (settlement.to === "done" && records !== undefined) this.#deps.onRecorded();
    return settlement.to === "done" ? "done" : settlement.to === "pending" ? "retry" : "dead";
  }

  /**
   * Writes a settlement, for as long as the store is only busy. False when the lease is lost or the store is broken.
   */
  async #keep(settlement: Settlement): Promise<boolean> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return (await this.#deps.store.settle(settlement)) === "settled";
      } catch (error) {
        const mayHelp = isPigeonholeError(error, "store_busy") || isPigeonholeError(error, "store_full");
        if (!mayHelp || attempt === SETTLE_TRIES) {
          const fields = { handler: settlement.handler, ...errorFields(error, true) };
          this.#deps.logger.error(fields, "settle_failed");
          return false;
        }
        await sleep(this.#deps.clock, SETTLE_RETRY_MS);
      }
    }
  }

  #lost(work: LeasedWork): RunOutcome {
    this.#deps.logger.warn({ eventId: work.eventId, handler: work.handler, attempt: work.attempt }, "lease_lost");
    return "lost";
  }

  #logFailure(work: LeasedWork, settlement: Settlement, error: unknown): void {
    const { logger, logErrorMessages } = this.#deps;
    const fields = {
      eventId: work.eventId,
      handler: work.handler,
      attempt: work.attempt,
      ...errorFields(error, logErrorMessages),
    };
    if (settlement.to === "pending") logger.warn({ ...fields, dueAt: settlement.dueAt }, "handler_failed");
    else logger.error({ ...fields, reason: "reason" in settlement ? settlement.reason : undefined }, "handler_dead");
  }
}
