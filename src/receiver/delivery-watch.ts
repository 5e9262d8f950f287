import { type Clock, elapsedBy } from "../base/clock.js";
import { HOUR, MINUTE } from "../base/duration.js";
import type { Logger } from "../base/logger.js";
import type { SignatureAssumptions } from "../protocol/signature-assumptions.js";
import { LIMITS } from "../protocol/limits.js";
import { ANSWERS, type Outcome, type OutcomeKind } from "../protocol/outcome.js";
import { hasSignatureHeaders } from "../protocol/parse-signature.js";
import type { HeaderReader } from "../protocol/raw-request.js";
import { isDeliveredStatus, isRetryableStatus } from "../protocol/retry-schedule.js";
import { signatureShape } from "../protocol/signature-shape.js";
import type { VerifiedOrNot } from "../protocol/verify-request.js";
import type { Figures } from "../store/figures.js";
import { TimeBuckets } from "../store/time-buckets.js";
import type { Alarms } from "./alarms.js";
import type { SecretOfSource, SecretSource } from "./secret-source.js";

/** Mismatches in a row before the alarm: one may be a stray request, three are a wrong secret. */
const MISMATCHES_BEFORE_ALARM = 3;

/** Longer than the service waits between two attempts. */
const QUIET_MS = 12 * HOUR;

/** The alarm comes at every twentieth failure in a row. */
const ALARM_EVERY = 20;

/** Most lines `final_answer` of one outcome in a minute: any sender can cause them. */
const MAX_LINES = 10;

/** The final verdict on the signature of a delivery, and which secret made it. */
interface Verified {
  verdict: VerifiedOrNot;
  secret: Pick<SecretOfSource, "source" | "index"> | undefined;
  header: HeaderReader;
}

interface SignatureWatchDeps {
  assumptions: SignatureAssumptions;
  secrets: Pick<SecretSource, "sources">;
  clock: Clock;
  alarms: Alarms;
}

/** Detects from the verdicts on signatures that a secret, a clock or the assumed layout is wrong. */
export class SignatureWatch {
  readonly #deps: SignatureWatchDeps;
  #mismatchesInARow = 0;
  #lastMismatchBy = -Infinity;
  /** The sources of signatures since the last mismatch. */
  readonly #matched = new Set<string>();

  constructor(deps: SignatureWatchDeps) {
    this.#deps = deps;
  }

  look({ verdict, secret, header }: Verified): void {
    const { alarms, assumptions, clock } = this.#deps;
    if (verdict.ok) {
      if (this.#mismatchesInARow > 0 && this.#allMatch(secret?.source ?? "")) this.#noteMismatches(0);
      if (secret === undefined || secret.index === 0) return;
      alarms.raise({ kind: "older_secret_matched", secretIndex: secret.index, source: secret.source });
      return;
    }
    switch (verdict.reason) {
      case "missing_signature":
      case "malformed_signature":
      case "missing_timestamp":
      case "malformed_timestamp": {
        const shape = signatureShape(header, assumptions);
        return alarms.raise({ kind: "signature_unreadable", reason: verdict.reason, shape });
      }
      case "mismatch":
        this.#lastMismatchBy = elapsedBy(clock);
        this.#matched.clear();
        return this.#noteMismatches(this.#mismatchesInARow + 1);
      case "stale":
      case "early":
        return alarms.raise({ kind: "clock_skew", skewSeconds: verdict.skewSeconds });
    }
  }

  #noteMismatches(inARow: number): void {
    this.#mismatchesInARow = inARow;
    const level = inARow >= MISMATCHES_BEFORE_ALARM ? inARow : 0;
    this.#deps.alarms.show({ kind: "signature_mismatches", inARow }, level);
  }

  /** Whether the secret of no source can be wrong any more: the match of one says nothing of another's. */
  #allMatch(source: string): boolean {
    const { clock, secrets } = this.#deps;
    this.#matched.add(source);
    const isQuiet = elapsedBy(clock) - this.#lastMismatchBy > QUIET_MS;
    return isQuiet || secrets.sources.every((name) => this.#matched.has(name));
  }
}

interface AnswerWatchDeps {
  logger: Logger;
  assumptions: SignatureAssumptions;
  clock: Clock;
  alarms: Alarms;
}

/** One answer, with the milliseconds that it took. */
export interface Answered {
  outcome: Outcome;
  status: number;
  header: HeaderReader;
  tookMs: number;
}

/**
 * Counts the outcomes of deliveries. Detects answers that lose an event, and from a series of them that the endpoint is
 * wrong, long before the service switches it off.
 */
export class AnswerWatch {
  readonly #deps: AnswerWatchDeps;
  /** Answers until `takeCounts` was last called, and since then. */
  readonly #counts: Figures["answers"] = {};
  #newCounts: Figures["answers"] = {};
  readonly #answerTimes = new TimeBuckets();
  /** Final answers in the minute that began then, in the clock's elapsed time. */
  readonly #finalAnswers = new Map<OutcomeKind, number>();
  #minuteBegan = -Infinity;
  failuresInARow = 0;
  /** When the last of them were answered, the oldest first: as many as the service needs to switch the endpoint off. */
  failureTimes: readonly number[] = [];
  /** When a delivery was last answered 2xx, duplicates included. */
  lastSuccessAt: number | undefined;
  /** When a delivery was last stored, duplicates left out; before that, the newest that the store had at the start. */
  lastAcceptedAt: number | undefined;
  /** When this process last stored one, in the clock's elapsed time. */
  lastAcceptedBy = -Infinity;

  constructor(deps: AnswerWatchDeps) {
    this.#deps = deps;
  }

  /** Called once for each delivery. */
  look({ outcome: { kind }, status, header, tookMs }: Answered): void {
    const { assumptions, clock, alarms } = this.#deps;
    const now = clock.now();
    this.#newCounts[kind] = (this.#newCounts[kind] ?? 0) + 1;
    if (kind === "accepted" || kind === "parked") {
      this.lastAcceptedAt = now;
      this.lastAcceptedBy = elapsedBy(clock);
    }
    if (ANSWERS[kind].status < 300) {
      this.#answerTimes.count(tookMs);
      return this.#succeeded(now);
    }
    if (kind === "body_consumed") alarms.raise({ kind });
    // Requests of other senders fail too, every day; only the service counts.
    if (!hasSignatureHeaders(header, assumptions)) return;
    // After these the service does not send again: it may be a lost event.
    if (!isDeliveredStatus(status) && !isRetryableStatus(status)) {
      this.#logFinal(kind, status, header);
      alarms.raise({ kind: "final_answer", outcome: kind, status });
    }
    // Of a body that was broken off nobody knows.
    if (kind === "wrong_method" || kind === "body_aborted") return;
    this.#answerTimes.count(tookMs);
    this.#failed(now);
  }

  #succeeded(now: number): void {
    if (this.failuresInARow > 0) this.#noteFailures(0);
    this.failureTimes = [];
    this.lastSuccessAt = now;
  }

  #failed(now: number): void {
    this.#noteFailures(this.failuresInARow + 1);
    this.failureTimes = [...this.failureTimes, now].slice(-LIMITS.disableAfterFailures);
  }

  #noteFailures(inARow: number): void {
    this.failuresInARow = inARow;
    const alarm = { kind: "failures_in_a_row", inARow, disablesAt: LIMITS.disableAfterFailures } as const;
    this.#deps.alarms.show(alarm, Math.floor(inARow / ALARM_EVERY));
  }

  #logFinal(kind: OutcomeKind, status: number, header: HeaderReader): void {
    const now = elapsedBy(this.#deps.clock);
    if (now - this.#minuteBegan >= MINUTE) {
      this.#minuteBegan = now;
      this.#finalAnswers.clear();
    }
    const lines = (this.#finalAnswers.get(kind) ?? 0) + 1;
    this.#finalAnswers.set(kind, lines);
    if (lines > MAX_LINES) return;
    // Of the announced length, only a number is trusted.
    const announcedBytes = Number(header("content-length") ?? Number.NaN);
    const size = Number.isSafeInteger(announcedBytes) ? { announcedBytes } : {};
    this.#deps.logger.warn({ kind, status, ...size }, "final_answer");
  }

  /** Every outcome since the receiver was created, zeros included. */
  get counts(): Record<OutcomeKind, number> {
    const countOf = (kind: OutcomeKind): number => (this.#counts[kind] ?? 0) + (this.#newCounts[kind] ?? 0);
    const kinds = Object.keys(ANSWERS) as OutcomeKind[];
    return Object.fromEntries(kinds.map((kind) => [kind, countOf(kind)])) as Record<OutcomeKind, number>;
  }

  /** Answers since the last call, by outcome and by the buckets of their times. */
  takeCounts(): Pick<Figures, "answers" | "answerTimes"> {
    const { counts } = this;
    const answers = this.#newCounts;
    this.#newCounts = {};
    Object.assign(this.#counts, counts);
    return { answers, answerTimes: this.#answerTimes.take() };
  }
}
