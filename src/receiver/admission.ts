import type { Clock } from "../base/clock.js";
import { type Deadline, Deadlines, type Expiring } from "../base/deadlines.js";
import { SECOND } from "../base/duration.js";
import { LATE, inTime } from "../base/wait.js";
import type { BodyRoom } from "../http/delivery-request.js";
import type { Outcome } from "../protocol/outcome.js";
import type { ReceiverState } from "./receiver.js";

/**
 * Bodies in memory at once: 16,000 of 10 kB, and of the largest allowed some thirty. With what reading and joining them
 * takes, the process grows by less than 300 MB.
 */
export const BODIES_BYTES = 160 * 1024 * 1024;

/** How long a delivery waits for a start in progress; the service gives up after 5 s. */
const START_WAIT_MS = 3 * SECOND;

/**
 * From the headers to the answer. The service gives up after 5 s; the difference is for the network, and for an event
 * loop that a handler's commit blocks.
 */
export const ANSWER_MS = 3.5 * SECOND;

/** A body whose announced length is at most this is short. */
const SHORT_BODY_BYTES = 16 * 1024;

export interface AdmissionLimits {
  /** Limit of a body in bytes. */
  maxBodyBytes: number;
  /** Longest time in milliseconds that a body may take to arrive. */
  bodyTimeoutMs: number;
  /** Most deliveries that were read and wait for their answer. */
  highWaterMark: number;
  /** False when all deliveries are refused. */
  accepts: boolean;
  /**
   * Limit in bytes of the bodies of all current deliveries together, so that many large ones do not use up the memory.
   */
  bodiesBytes: number;
}

/**
 * Decides which deliveries can be taken now: by the receiver's state, by how many wait and for how long, and by the
 * memory that bodies hold.
 */
export class Admission {
  readonly #clock: Clock;
  readonly #highWaterMark: number;
  readonly #accepts: boolean;
  /** Limit of a body in bytes. */
  readonly maxBodyBytes: number;
  /** Of the bodies that are being received. */
  readonly deadlines: Deadlines;
  /** Of the answers. */
  readonly #answerDeadlines: Deadlines;
  #state: ReceiverState = "new";
  #hasStarted = false;
  #stateChanged: (() => void)[] = [];
  #freeBytes: number;
  #waiting = 0;
  #overdue = 0;
  #noneWaits: (() => void) | undefined;

  constructor(limits: AdmissionLimits, clock: Clock) {
    const { maxBodyBytes, bodyTimeoutMs, highWaterMark, bodiesBytes, accepts } = limits;
    this.#clock = clock;
    this.#highWaterMark = highWaterMark;
    this.#accepts = accepts;
    this.maxBodyBytes = maxBodyBytes;
    this.deadlines = new Deadlines(clock, bodyTimeoutMs);
    this.#answerDeadlines = new Deadlines(clock, ANSWER_MS);
    this.#freeBytes = bodiesBytes;
  }

  /** The receiver's state, which its lifecycle sets. */
  get state(): ReceiverState {
    return this.#state;
  }

  set state(state: ReceiverState) {
    this.#state = state;
    // Also while it stops: a delivery that was read before can be verified, and the store may still take it.
    if (state === "running") this.#hasStarted = true;
    for (const notify of this.#stateChanged.splice(0)) notify();
  }

  /** True once a start has succeeded, also while the receiver stops. */
  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  /** Deliveries that were read and are not settled yet. Those that are overdue were answered already. */
  get waiting(): number {
    return this.#waiting;
  }

  /** True while a delivery that did not get its answer in time still waits. */
  get isOverdue(): boolean {
    return this.#overdue > 0;
  }

  /** What cannot be taken at all is refused before its body is read. */
  refusal(): Outcome | undefined {
    if (!this.#accepts) return { kind: "not_accepting" };
    if (this.#state === "new") return { kind: "not_started" };
    if (this.#state === "stopping" || this.#state === "stopped") return { kind: "stopping" };
    // A new delivery would wait behind the overdue one.
    return this.isOverdue || this.#waiting >= this.#highWaterMark ? { kind: "overloaded" } : undefined;
  }

  /** Admits a body that is announced with `length` bytes, NaN without one. Its bytes are counted as they arrive. */
  admit(length: number): AdmittedDelivery {
    return new AdmittedDelivery(this, !(length <= SHORT_BODY_BYTES));
  }

  /** A delivery waits for a start in progress, but not longer than the service waits for an answer. */
  async untilStarted(): Promise<Outcome | undefined> {
    if (this.#state === "starting") {
      await inTime(new Promise<void>((resolve) => this.#stateChanged.push(resolve)), this.#clock, START_WAIT_MS);
    }
    if (this.#hasStarted) return undefined;
    return this.#state === "new" || this.#state === "starting" ? { kind: "not_started" } : { kind: "stopping" };
  }

  /** Deliveries that are being stored are answered before the store closes. */
  async untilNoneWaits(timeoutMs: number): Promise<void> {
    if (this.#waiting === 0) return;
    await inTime(new Promise<void>((resolve) => (this.#noneWaits = resolve)), this.#clock, timeoutMs);
  }

  /** False when so many bytes are not free; nothing is taken then. */
  takeBytes(bytes: number): boolean {
    if (bytes > this.#freeBytes) return false;
    this.#freeBytes -= bytes;
    return true;
  }

  giveBytes(bytes: number): void {
    this.#freeBytes += bytes;
  }

  beginToAnswer(delivery: Expiring): Deadline {
    return this.#answerDeadlines.begin(delivery);
  }

  endAnswering(deadline: Deadline): void {
    this.#answerDeadlines.end(deadline);
  }

  /** How long a delivery has waited for its answer, in milliseconds. */
  elapsedOf(deadline: Deadline): number {
    return this.#answerDeadlines.elapsedOf(deadline);
  }

  beginToWait(): void {
    this.#waiting += 1;
  }

  becomeOverdue(): void {
    this.#overdue += 1;
  }

  endWaiting(wasOverdue: boolean): void {
    this.#waiting -= 1;
    if (wasOverdue) this.#overdue -= 1;
    if (this.#waiting === 0) this.#noneWaits?.();
  }
}

/** One admitted delivery, and what it holds until it leaves. */
export class AdmittedDelivery implements BodyRoom, Expiring {
  readonly #admission: Admission;
  readonly isLong: boolean;
  /** Of its answer. */
  #deadline: Deadline;
  #taken = 0;
  #waits = false;
  /** Its time for an answer is over. */
  #isLate = false;
  #hasLeft = false;
  #answerLate: ((late: typeof LATE) => void) | undefined;

  constructor(admission: Admission, isLong: boolean) {
    this.#admission = admission;
    this.isLong = isLong;
    this.#deadline = admission.beginToAnswer(this);
  }

  /** Milliseconds since it was admitted; since its body was there if that came late. */
  get elapsedMs(): number {
    return this.#admission.elapsedOf(this.#deadline);
  }

  get maxBytes(): number {
    return this.#admission.maxBodyBytes;
  }

  get deadlines(): Deadlines {
    return this.#admission.deadlines;
  }

  take(bytes: number): boolean {
    // The rest of a delivery that was answered is discarded.
    if (this.#hasLeft) return true;
    if (!this.#admission.takeBytes(bytes)) return false;
    this.#taken += bytes;
    return true;
  }

  /**
   * Settles as `settled` does, or resolves with {@link LATE} when the time for an answer is over; the delivery itself
   * goes on.
   */
  untilAnswered<Value>(settled: Promise<Value>): Promise<Value | typeof LATE> {
    return new Promise((resolve, reject) => {
      this.#answerLate = resolve;
      settled.then(resolve, reject);
    });
  }

  /** Its body is read: it waits for the start and the store from now on. */
  wait(): void {
    this.#waits = true;
    this.#admission.beginToWait();
    if (!this.#isLate) return;
    // The sender was late. Bodies have a time limit of their own; the time for our answer begins here.
    this.#isLate = false;
    this.#deadline = this.#admission.beginToAnswer(this);
  }

  /** It is not verified and waits for the secrets: meanwhile it takes no place from genuine ones, also when late. */
  async waitAside<Value>(settled: Promise<Value>): Promise<Value> {
    this.#waits = false;
    this.#admission.endWaiting(this.#isLate);
    try {
      return await settled;
    } finally {
      this.wait();
    }
  }

  expire(): void {
    this.#isLate = true;
    if (!this.#waits) return;
    this.#admission.becomeOverdue();
    this.#answerLate?.(LATE);
  }

  /** It is settled: stored, a duplicate, or refused. */
  leave(): void {
    this.#hasLeft = true;
    this.#admission.endAnswering(this.#deadline);
    this.#admission.giveBytes(this.#taken);
    if (this.#waits) this.#admission.endWaiting(this.#isLate);
  }
}
