import type { Clock } from "../base/clock.js";
import { Deadlines, type Expiring } from "../base/deadlines.js";
import { SECOND } from "../base/duration.js";
import { LATE, inTime } from "../base/in-time.js";
import type { BodyRoom } from "../http/delivery-request.js";
import type { Outcome } from "../protocol/outcome.js";
import type { ReceiverState } from "./receiver.js";

/**
 * Bodies in memory at once: 16,000 of 10 kB, and of the largest allowed some thirty. With what reading and joining them takes, the process
 * grows by less than 300 MB.
 */
export const BODIES_BYTES = 160 * 1024 * 1024;

/** How long a delivery waits for a start that is under way; the service gives up after 5 s. */
const START_WAIT_MS = 3 * SECOND;

/**
 * From the headers to the answer. The service gives up after 5 s; what lies between is for a loop that a handler's commit blocks, and for
 * the network.
 */
export const ANSWER_MS = 3.5 * SECOND;

/**
 * A body that announces no more than this is counted at once, which is cheap. A larger one is counted as it comes: an announcement alone
 * must not take the room of genuine deliveries.
 */
const SMALL_BODY_BYTES = 16 * 1024;

export interface AdmissionLimits {
  /** Limit of a body in bytes. */
  maxBodyBytes: number;
  /** Longest time in milliseconds that a body may take to arrive. */
  bodyTimeoutMs: number;
  /** Most deliveries that were read and wait for their answer. */
  highWaterMark: number;
  /** Bytes that the bodies of all deliveries under way may hold together, so that many large ones at once do not use up the memory. */
  bodiesBytes: number;
}

/**
 * Which deliveries can be taken now: by the receiver's state, by how many wait already and for how long, and by the memory that bodies hold.
 */
export class Admission {
  readonly #clock: Clock;
  readonly #highWaterMark: number;
  /** Limit of a body in bytes. */
  readonly maxBodyBytes: number;
  /** Of the bodies that are on their way. */
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

  constructor({ maxBodyBytes, bodyTimeoutMs, highWaterMark, bodiesBytes }: AdmissionLimits, clock: Clock) {
    this.#clock = clock;
    this.#highWaterMark = highWaterMark;
    this.maxBodyBytes = maxBodyBytes;
    this.deadlines = new Deadlines(clock, bodyTimeoutMs);
    this.#answerDeadlines = new Deadlines(clock, ANSWER_MS);
    this.#freeBytes = bodiesBytes;
  }

  /** Where the receiver is in its life, as its lifecycle says. */
  get state(): ReceiverState {
    return this.#state;
  }

  set state(state: ReceiverState) {
    this.#state = state;
    // Also while it stops, what was read before can be verified, and the store may still take it.
    if (state === "running") this.#hasStarted = true;
    for (const tell of this.#stateChanged.splice(0)) tell();
  }

  /** True once a start has come to its end well, also while the receiver stops. */
  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  /** Deliveries that were read and are not settled yet; those that are overdue were answered all the same. */
  get waiting(): number {
    return this.#waiting;
  }

  /** True while the delivery that waits longest did not get its answer in time. */
  get isOverdue(): boolean {
    return this.#overdue > 0;
  }

  /** What cannot be taken at all is refused before its body is read. */
  refusal(): Outcome | undefined {
    if (this.#state === "new") return { kind: "not_started" };
    if (this.#state === "stopping" || this.#state === "stopped") return { kind: "stopping" };
    // What came now would wait behind what is overdue.
    return this.isOverdue || this.#waiting >= this.#highWaterMark ? { kind: "overloaded" } : undefined;
  }

  /** Makes room for a body of `length` bytes, NaN when that is not known; undefined when there is none beside the others. */
  admit(length: number): AdmittedDelivery | undefined {
    const isSmall = length <= SMALL_BODY_BYTES;
    const delivery = new AdmittedDelivery(this, !isSmall);
    if (isSmall && !delivery.take(length)) return undefined;
    this.beginToAnswer(delivery);
    return delivery;
  }

  /** A delivery waits for a start that is under way, but not past the time that the service gives it. */
  async untilStarted(): Promise<Outcome | undefined> {
    if (this.#state === "starting") {
      await inTime(new Promise<void>((resolve) => this.#stateChanged.push(resolve)), this.#clock, START_WAIT_MS);
    }
    if (this.#hasStarted) return undefined;
    return this.#state === "new" || this.#state === "starting" ? { kind: "not_started" } : { kind: "stopping" };
  }

  /** What is being stored gets its answer before the store closes. */
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

  beginToAnswer(delivery: Expiring): void {
    this.#answerDeadlines.begin(delivery);
  }

  endAnswering(delivery: Expiring): void {
    this.#answerDeadlines.end(delivery);
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

/** One delivery that was let in, and what it holds until it leaves. */
export class AdmittedDelivery implements BodyRoom, Expiring {
  readonly #admission: Admission;
  readonly countsChunks: boolean;
  #taken = 0;
  #waits = false;
  /** Its time for an answer is over. */
  #isLate = false;
  #hasLeft = false;
  #answerLate: ((late: typeof LATE) => void) | undefined;

  constructor(admission: Admission, countsChunks: boolean) {
    this.#admission = admission;
    this.countsChunks = countsChunks;
  }

  get maxBytes(): number {
    return this.#admission.maxBodyBytes;
  }

  get deadlines(): Deadlines {
    return this.#admission.deadlines;
  }

  take(bytes: number): boolean {
    // What still comes of a delivery that was answered is thrown away.
    if (this.#hasLeft) return true;
    if (!this.#admission.takeBytes(bytes)) return false;
    this.#taken += bytes;
    return true;
  }

  /** Settles as `settled` does, or resolves with {@link LATE} when the time for an answer is over; the delivery itself goes on. */
  untilAnswered<Value>(settled: Promise<Value>): Promise<Value | typeof LATE> {
    return new Promise((resolve, reject) => {
      this.#answerLate = resolve;
      settled.then(resolve, reject);
    });
  }

  /** Its body is read: it waits for the start, the secrets and the store from now on. */
  wait(): void {
    this.#waits = true;
    this.#admission.beginToWait();
    if (!this.#isLate) return;
    // Its sender was late. There is a time limit for bodies; the wait for us begins here.
    this.#isLate = false;
    this.#admission.beginToAnswer(this);
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
    this.#admission.endAnswering(this);
    this.#admission.giveBytes(this.#taken);
    if (this.#waits) this.#admission.endWaiting(this.#isLate);
  }
}
