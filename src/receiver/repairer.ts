import type { Clock, Timer } from "../base/clock.js";
import { HOUR, MINUTE, SECOND } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import type { Logger } from "../base/logger.js";
import type { Client } from "../client/call-types.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { SecretSource } from "./secret-source.js";
import { NOTHING_MISSING, type RoundResult, makeRound } from "./repair-round.js";

/** By then the app listens, so that it can be sent what is missing. */
const FIRST_AFTER_MS = MINUTE;
const MIN_WAIT_MS = SECOND;

/** A round that takes longer, or whose process has died, lets another one begin; an event takes effect once. */
const MIN_CLAIM_MS = HOUR;

export interface RepairerDeps {
  client: Client;
  /** The endpoint, the name of its secret, and the milliseconds from one round to the next. */
  repair: { endpointId: string; source: string; every: number };
  secrets: Pick<SecretSource, "checkSource">;
  operator: InboxOperator;
  clock: Clock;
  logger: Logger;
}

/**
 * Makes the rounds of the option `repair`. All processes with the option ask the store at the same times, and one of
 * them makes the round: one event after the other, beside deliveries.
 */
export class Repairer {
  readonly #deps: RepairerDeps;
  readonly #stop = new AbortController();
  #timer: Timer | undefined;
  /** Never rejects. */
  #round: Promise<void> = Promise.resolve();

  constructor(deps: RepairerDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#wait(Math.min(FIRST_AFTER_MS, this.#deps.repair.every));
  }

  /** Ends the round under way. Never rejects. */
  stop(): Promise<void> {
    this.#stop.abort();
    this.#timer?.cancel();
    return this.#round;
  }

  #wait(delayMs: number): void {
    if (this.#stop.signal.aborted) return;
    this.#timer = this.#deps.clock.setTimer(() => {
      this.#round = this.#run().then((waitMs) => this.#wait(waitMs));
    }, delayMs);
  }

  /** Makes the round unless another process does. Resolves with the time to the next. */
  async #run(): Promise<number> {
    const { operator, repair } = this.#deps;
    const { endpointId, every } = repair;
    try {
      const { isClaimed, dueInMs, comparedUntil } = await operator.claimRepair({
        endpointId,
        forMs: Math.max(every, MIN_CLAIM_MS),
      });
      if (!isClaimed) return Math.max(MIN_WAIT_MS, Math.min(dueInMs, every));
      const made = await this.#make(comparedUntil);
      if (made !== undefined) await operator.endRepair({ endpointId, dueInMs: every, ...made });
    } catch (error) {
      this.#logFailure(errorFields(error, true));
    }
    return every;
  }

  /** Never rejects; undefined when it was stopped. */
  async #make(comparedUntil: number | undefined): Promise<RoundResult | undefined> {
    const { client, operator, clock, logger, repair, secrets } = this.#deps;
    const { signal } = this.#stop;
    try {
      const { endpointId, source } = repair;
      secrets.checkSource("repair.source", source);
      const begin = { endpointId, source, comparedUntil, signal };
      const { report, ...made } = await makeRound({ client, inbox: operator, clock }, begin);
      // The command names the events, with --dry-run.
      if (made.missing > 0 || made.refused !== null) logger.warn({ ...report, ...made }, "events_repaired");
      return made;
    } catch (error) {
      if (signal.aborted) return undefined;
      const fields = errorFields(error, false);
      this.#logFailure(fields);
      return { ...NOTHING_MISSING, refused: String(fields["code"] ?? fields["error"]), comparedUntil };
    }
  }

  #logFailure(fields: object): void {
    if (!this.#stop.signal.aborted) this.#deps.logger.warn(fields, "repair_failed");
  }
}
