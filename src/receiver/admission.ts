import type { Clock } from "../base/clock.js";
import { Deadlines } from "../base/deadlines.js";
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
  /** Limit in bytes of the bodies of all current deliveries together. */
  bodiesBytes: number;
}

/** What an admitted delivery may use, and how it says where it is. */
export interface Admitted extends BodyRoom {
  /** Its body is read: it waits for the start and the store from now on. */
  wait(): void;
  /** It is not verified and waits for the secrets: meanwhile it takes no place from genuine ones, also when late. */
  waitAside<Value>(settled: Promise<Value>): Promise<Value>;
}

/** Decides which deliveries can be taken now: by the receiver's state, how many wait, and the memory of bodies. */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #clock: Clock;
  readonly #bodies: Deadlines;
  readonly #answers: Deadlines;
  #state: ReceiverState = "new";
  #hasStarted = false;
  #stateChanged: (() => void)[] = [];
  #freeBytes: number;
  #waiting = 0;
  #overdue = 0;
  #noneWaits: (() => void) | undefined;

  constructor(limits: AdmissionLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#bodies = new Deadlines(clock, limits.bodyTimeoutMs);
    this.#answers = new Deadlines(clock, ANSWER_MS);
    this.#freeBytes = limits.bodiesBytes;
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

  /** What bodies may still take. */
  get freeBytes(): number {
    return this.#freeBytes;
  }

  /** What cannot be taken at all is refused before its body is read. */
  refusal(): Outcome | undefined {
    if (!this.#limits.accepts) return { kind: "not_accepting" };
    if (this.#state === "new") return { kind: "not_started" };
    if (this.#state === "stopping" || this.#state === "stopped") return { kind: "stopping" };
    // A new delivery would wait behind the overdue one.
    return this.#overdue > 0 || this.#waiting >= this.#limits.highWaterMark ? { kind: "overloaded" } : undefined;
  }

  /**
   * Takes a delivery to its outcome with `work`. `length` is the announced one of its body, NaN without one; its bytes
   * are counted as they arrive. It holds its memory and its place until `work` has settled, also after its answer:
   * `LATE` when the time for one is over first. `tookMs`: since it was admitted, or since its body was there if late.
   */
  admit(
    length: number,
    work: (admitted: Admitted) => Promise<Outcome>,
  ): Promise<{ outcome: Outcome | typeof LATE; tookMs: number }> {
    const isLong = !(length <= SHORT_BODY_BYTES);
    const { maxBodyBytes: maxBytes } = this.#limits;
    let [taken, waits, isLate, hasLeft] = [0, false, false, false];
    return new Promise((resolve, reject) => {
      const expire = (): void => {
        isLate = true;
        if (!waits) return;
        this.#overdue += 1;
        answer(LATE);
      };
      let deadline = this.#answers.begin({ expire });
      const answer = (outcome: Outcome | typeof LATE): void =>
        resolve({ outcome, tookMs: this.#answers.elapsedOf(deadline) });
      const wait = (): void => {
        waits = true;
        this.#waiting += 1;
        if (!isLate) return;
        // The sender was late. Bodies have a time limit of their own; the time for our answer begins here.
        isLate = false;
        deadline = this.#answers.begin({ expire });
      };
      const endWaiting = (): void => {
        if (!waits) return;
        waits = false;
        this.#waiting -= 1;
        if (isLate) this.#overdue -= 1;
        if (this.#waiting === 0) this.#noneWaits?.();
      };
      const take = (bytes: number): boolean => {
        // The rest of a delivery that was answered is discarded.
        if (hasLeft) return true;
        if (bytes > this.#freeBytes) return false;
        this.#freeBytes -= bytes;
        taken += bytes;
        return true;
      };
      const waitAside = <Value>(settled: Promise<Value>): Promise<Value> => {
        endWaiting();
        return settled.finally(wait);
      };
      const leave = (): void => {
        hasLeft = true;
        this.#answers.end(deadline);
        this.#freeBytes += taken;
        endWaiting();
      };
      work({ maxBytes, deadlines: this.#bodies, isLong, take, wait, waitAside }).finally(leave).then(answer, reject);
    });
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
}
