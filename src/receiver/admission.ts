import type { Clock } from "../base/clock.js";
import { Deadlines } from "../base/deadlines.js";
import { SECOND } from "../base/duration.js";
import { inTime } from "../base/in-time.js";
import type { BodyRoom } from "../http/delivery-request.js";
import type { Outcome } from "../protocol/outcome.js";
import type { ReceiverState } from "./receiver.js";

/** Bodies in memory at once: 25,000 of 10 kB, and of the largest allowed some fifty. */
export const BODIES_BYTES = 256 * 1024 * 1024;

/** How long a delivery waits for a start that is under way; the service gives up after 5 s. */
const START_WAIT_MS = 3 * SECOND;

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

/** Which deliveries can be taken now: by the receiver's state, by those that wait already, and by the memory that bodies hold. */
export class Admission {
  readonly #clock: Clock;
  readonly #highWaterMark: number;
  /** Limit of a body in bytes. */
  readonly maxBodyBytes: number;
  /** Of the bodies that are on their way. */
  readonly deadlines: Deadlines;
  #state: ReceiverState = "new";
  #hasStarted = false;
  #stateChanged: (() => void)[] = [];
  #freeBytes: number;
  #waiting = 0;
  #noneWaits: (() => void) | undefined;

  constructor({ maxBodyBytes, bodyTimeoutMs, highWaterMark, bodiesBytes }: AdmissionLimits, clock: Clock) {
    this.#clock = clock;
    this.#highWaterMark = highWaterMark;
    this.maxBodyBytes = maxBodyBytes;
    this.deadlines = new Deadlines(clock, bodyTimeoutMs);
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

  /** Deliveries that were read and not answered yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /** What cannot be taken at all is refused before its body is read. */
  refusal(): Outcome | undefined {
    if (this.#state === "new") return { kind: "not_started" };
    if (this.#state === "stopping" || this.#state === "stopped") return { kind: "stopping" };
    return this.#waiting >= this.#highWaterMark ? { kind: "overloaded" } : undefined;
  }

  /** Makes room for a body of `length` bytes, NaN when that is not known; undefined when there is none beside the others. */
  admit(length: number): AdmittedDelivery | undefined {
    const isSmall = length <= SMALL_BODY_BYTES;
    const delivery = new AdmittedDelivery(this, !isSmall);
    return isSmall && !delivery.take(length) ? undefined : delivery;
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

  beginToWait(): void {
    this.#waiting += 1;
  }

  endWaiting(): void {
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#noneWaits?.();
  }
}

/** One delivery that was let in, and what it holds until it leaves. */
export class AdmittedDelivery implements BodyRoom {
  readonly #admission: Admission;
  readonly countsChunks: boolean;
  #taken = 0;
  #waits = false;
  #hasLeft = false;

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

  /** Its body is read: it waits for the start, the secrets and the store from now on. */
  wait(): void {
    this.#waits = true;
    this.#admission.beginToWait();
  }

  /** It has its answer. */
  leave(): void {
    this.#hasLeft = true;
    this.#admission.giveBytes(this.#taken);
    if (this.#waits) this.#admission.endWaiting();
  }
}
