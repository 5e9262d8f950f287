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
  /** Limit in bytes of the bodies of all current deliveries together. */
  bodiesBytes: number;
}

/** What all current deliveries use together. */
interface Use {
  /** What bodies may still take. */
  freeBytes: number;
  /** Deliveries that were read and are not settled yet. */
  waiting: number;
  /** Those of them that were answered already, as they are late. */
  overdue: number;
  noneWaits: (() => void) | undefined;
}

interface OutcomeInTime {
  outcome: Outcome | typeof LATE;
  /** Milliseconds since it was admitted, or since its body was there if that was late. */
  tookMs: number;
}

/** A delivery that was admitted: what it may use, and how it says where it is. */
export class Admitted implements BodyRoom, Expiring {
  readonly maxBytes: number;
  readonly deadlines: Deadlines;
  readonly isLong: boolean;
  readonly #use: Use;
  readonly #answers: Deadlines;
  #deadline: Deadline;
  #taken = 0;
  #waits = false;
  #isLate = false;
  #hasLeft = false;
  #resolve: ((answered: OutcomeInTime) => void) | undefined;

  constructor(room: Omit<BodyRoom, "take">, use: Use, answers: Deadlines) {
    this.maxBytes = room.maxBytes;
    this.deadlines = room.deadlines;
    this.isLong = room.isLong;
    this.#use = use;
    this.#answers = answers;
    this.#deadline = answers.begin(this);
  }

  /** Settles as `work` does, or resolves with `LATE`. Call it once. */
  answered(work: Promise<Outcome>): Promise<OutcomeInTime> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      // Not finally: it makes four promises of its own, for each delivery.
      work.then(
        (outcome) => this.#answer(this.#leave(outcome)),
        (error) => reject(this.#leave(error as Error)),
      );
    });
  }

  take(bytes: number): boolean {
    // The rest of a delivery that was answered is discarded.
    if (this.#hasLeft) return true;
    if (bytes > this.#use.freeBytes) return false;
    this.#use.freeBytes -= bytes;
    this.#taken += bytes;
    return true;
  }

  /** Its body is read: it waits for the start and the store from now on. */
  wait(): void {
    this.#waits = true;
    this.#use.waiting += 1;
    if (!this.#isLate) return;
    // The sender was late. Bodies have a time limit of their own; the time for our answer begins here.
    this.#isLate = false;
    this.#deadline = this.#answers.begin(this);
  }

  /** It is not verified and waits for the secrets: meanwhile it takes no place from genuine ones, also when late. */
  waitAside<Value>(settled: Promise<Value>): Promise<Value> {
    this.#endWaiting();
    return settled.finally(() => this.wait());
  }

  expire(): void {
    this.#isLate = true;
    if (!this.#waits) return;
    this.#use.overdue += 1;
    this.#answer(LATE);
  }

  #answer(outcome: Outcome | typeof LATE): void {
    this.#resolve?.({ outcome, tookMs: this.#answers.elapsedOf(this.#deadline) });
  }

  #leave<Result>(result: Result): Result {
    this.#hasLeft = true;
    this.#answers.end(this.#deadline);
    this.#use.freeBytes += this.#taken;
    this.#endWaiting();
    return result;
  }

  #endWaiting(): void {
    if (!this.#waits) return;
    this.#waits = false;
    this.#use.waiting -= 1;
    if (this.#isLate) this.#use.overdue -= 1;
    if (this.#use.waiting === 0) this.#use.noneWaits?.();
  }
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
  readonly #use: Use;

  constructor(limits: AdmissionLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#bodies = new Deadlines(clock, limits.bodyTimeoutMs);
    this.#answers = new Deadlines(clock, ANSWER_MS);
    this.#use = { freeBytes: limits.bodiesBytes, waiting: 0, overdue: 0, noneWaits: undefined };
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
    return this.#use.waiting;
  }

  /** What bodies may still take. */
  get freeBytes(): number {
    return this.#use.freeBytes;
  }

  /** What cannot be taken at all is refused before its body is read. */
  refusal(): Outcome | undefined {
    if (!this.#limits.accepts) return { kind: "not_accepting" };
    if (this.#state === "new") return { kind: "not_started" };
    if (this.#state === "stopping" || this.#state === "stopped") return { kind: "stopping" };
    // A new delivery would wait behind the overdue one.
    return this.#use.overdue > 0 || this.#use.waiting >= this.#limits.highWaterMark
      ? { kind: "overloaded" }
      : undefined;
  }

  /**
   * Takes a delivery to its outcome with `work`. `length` is the announced one of its body, NaN without one; its bytes
   * are counted as they arrive. It holds its memory and its place until `work` has settled, also after its answer:
   * `LATE` when the time for one is over first.
   */
  admit(length: number, work: (admitted: Admitted) => Promise<Outcome>): Promise<OutcomeInTime> {
    const { maxBodyBytes: maxBytes } = this.#limits;
    const isLong = !(length <= SHORT_BODY_BYTES);
    const admitted = new Admitted({ maxBytes, deadlines: this.#bodies, isLong }, this.#use, this.#answers);
    return admitted.answered(work(admitted));
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
    if (this.#use.waiting === 0) return;
    await inTime(new Promise<void>((resolve) => (this.#use.noneWaits = resolve)), this.#clock, timeoutMs);
  }
}
