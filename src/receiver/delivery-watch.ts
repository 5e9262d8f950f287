import type { Clock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import type { SignatureAssumptions } from "../protocol/assumptions.js";
import { LIMITS } from "../protocol/limits.js";
import { ANSWERS, type Outcome, type OutcomeKind } from "../protocol/outcome.js";
import { hasSignatureHeaders } from "../protocol/parse-signature.js";
import type { HeaderReader } from "../protocol/raw-request.js";
import { signatureShape } from "../protocol/signature-shape.js";
import type { VerifiedOrNot } from "../protocol/verify-request.js";
import { TimeBuckets } from "../store/time-buckets.js";
import type { Alarms, SilenceWatch } from "./alarms.js";
import type { ClockWatch } from "./clock-watch.js";

/** Mismatches in a row before the alarm: one may be a stray request, three are a wrong secret. */
const MISMATCHES_BEFORE_ALARM = 3;

/** The alarm comes at every twentieth failure in a row. */
const ALARM_EVERY = 20;

export interface DeliveryWatchDeps {
  alarms: Alarms;
  clockWatch: ClockWatch;
  /** The layout that signatures are read by. */
  assumptions: SignatureAssumptions;
  /** Undefined when silence raises no alarm. */
  silence: SilenceWatch | undefined;
  clock: Clock;
}

/**
 * Counts the outcomes of deliveries. Detects from a series of them that a secret, a clock, the assumed layout or the
 * endpoint itself is wrong, long before the service switches the endpoint off.
 */
export class DeliveryWatch {
  readonly #deps: DeliveryWatchDeps;
  readonly #counts = new Map<OutcomeKind, number>();
  readonly #answerTimes = new TimeBuckets();
  #mismatchesInARow = 0;
  #failuresInARow = 0;
  #failureTimes: number[] = [];
  #lastSuccessAt: number | undefined;
  #lastAcceptedAt: number | undefined;

  constructor(deps: DeliveryWatchDeps) {
    this.#deps = deps;
  }

  /** The final verdict on a delivery's signature. */
  judged(verdict: VerifiedOrNot, header: HeaderReader): void {
    const { alarms, clockWatch, assumptions } = this.#deps;
    if (verdict.ok) {
      this.#mismatchesInARow = 0;
      if (verdict.secretIndex > 0) alarms.raise({ kind: "older_secret_matched", secretIndex: verdict.secretIndex });
      return;
    }
    switch (verdict.reason) {
      case "missing_signature":
      case "malformed_signature":
      case "missing_timestamp":
      case "malformed_timestamp": {
        const shape = signatureShape(header, assumptions);
        alarms.raise({ kind: "signature_unreadable", reason: verdict.reason, shape });
        return;
      }
      case "mismatch":
        this.#mismatchesInARow += 1;
        if (this.#mismatchesInARow < MISMATCHES_BEFORE_ALARM) return;
        alarms.raise({ kind: "signature_mismatches", inARow: this.#mismatchesInARow });
        return;
      case "early":
        alarms.raise({ kind: "clock_skew", skewSeconds: verdict.skewSeconds });
        return;
      case "stale":
        alarms.raise({ kind: "clock_skew", skewSeconds: verdict.skewSeconds });
        clockWatch.doubt(verdict.skewSeconds * SECOND);
    }
  }

  /** Notes the outcome of a delivery, and how long its answer took in milliseconds. Called once for each. */
  answered(outcome: Outcome, { header, tookMs }: { header: HeaderReader; tookMs: number }): void {
    const { alarms, assumptions, silence, clock } = this.#deps;
    this.#counts.set(outcome.kind, (this.#counts.get(outcome.kind) ?? 0) + 1);
    if (outcome.kind === "body_consumed") alarms.raise({ kind: "body_consumed" });
    if (outcome.kind === "accepted" || outcome.kind === "parked") {
      this.#lastAcceptedAt = clock.now();
      silence?.accepted();
    }
    const isFailure = ANSWERS[outcome.kind].status >= 300;
    // Requests of other senders fail too, but only the service counts. Of a body that was broken off nobody knows.
    const isUnknown = outcome.kind === "wrong_method" || outcome.kind === "body_aborted";
    if (isFailure && (isUnknown || !hasSignatureHeaders(header, assumptions))) return;
    this.#answerTimes.count(tookMs);
    if (!isFailure) {
      this.#failuresInARow = 0;
      this.#failureTimes = [];
      this.#lastSuccessAt = clock.now();
    } else {
      this.#failuresInARow += 1;
      this.#failureTimes = [...this.#failureTimes, clock.now()].slice(-LIMITS.disableAfterFailures);
      if (this.#failuresInARow % ALARM_EVERY === 0) {
        const disablesAt = LIMITS.disableAfterFailures;
        alarms.raise({ kind: "failures_in_a_row", inARow: this.#failuresInARow, disablesAt });
      }
    }
  }

  /** Every outcome since the receiver was created, zeros included. */
  get counts(): Record<OutcomeKind, number> {
    const kinds = Object.keys(ANSWERS) as OutcomeKind[];
    return Object.fromEntries(kinds.map((kind) => [kind, this.#counts.get(kind) ?? 0])) as Record<OutcomeKind, number>;
  }

  /** Answers since the last call, by the buckets of their times. */
  takeAnswerTimes(): number[] {
    return this.#answerTimes.take();
  }

  get failuresInARow(): number {
    return this.#failuresInARow;
  }

  /** When the last of them were answered, the oldest first: as many as the service needs to switch the endpoint off. */
  get failureTimes(): readonly number[] {
    return this.#failureTimes;
  }

  /** When a delivery was last answered 2xx, duplicates included. */
  get lastSuccessAt(): number | undefined {
    return this.#lastSuccessAt;
  }

  /** The newest delivery that the store had at the start. One since then counts instead. */
  foundInStore(acceptedAt: number): void {
    this.#lastAcceptedAt ??= acceptedAt;
  }

  /** When a delivery was last stored, duplicates left out. */
  get lastAcceptedAt(): number | undefined {
    return this.#lastAcceptedAt;
  }
}
