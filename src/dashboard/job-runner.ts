import { type Clock, elapsedBy } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { isPigeonholeError } from "../base/error.js";
import { sleep } from "../base/wait.js";
import type { ReceiverState } from "../receiver/receiver.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import { isStoreAway } from "../store/passing-failure.js";
import type { StoreTrouble } from "./state-now.js";
import type { FailureLog } from "./failure-log.js";
import { troubleOf } from "./store-trouble.js";

/** How often it looks for jobs that another process has left, and whether the receiver runs. */
const LOOK_MS = 30 * SECOND;
const WAKE_MS = 1 * SECOND;

/** Between two pages, so that deliveries and handlers get the store. */
const BETWEEN_PAGES_MS = 10;

/** What a job runner works with. */
export interface JobRunnerTools {
  /** Throws `stopped` while the receiver does not run. */
  operator: () => InboxOperator;
  receiver: { readonly state: ReceiverState };
  clock: Clock;
  failures: FailureLog;
}

/** Works on the open jobs of the store, also on those of processes that have died, while its receiver runs. */
export class JobRunner {
  readonly #tools: JobRunnerTools;
  #isRunning = false;
  /** A job may come while it looks, and be missed by that. */
  #looksAgain = false;
  /** By the clock's `elapsed`. */
  #lookAt = Number.NEGATIVE_INFINITY;
  #trouble: StoreTrouble | null = null;

  constructor(tools: JobRunnerTools) {
    this.#tools = tools;
    this.#waitToLook();
  }

  /** Why open jobs do not go on here; null while they do. */
  get trouble(): StoreTrouble | null {
    return this.#trouble;
  }

  /** Works on what is open now. */
  kick(): void {
    this.#lookAt = elapsedBy(this.#tools.clock) + LOOK_MS;
    this.#looksAgain = true;
    if (!this.#isRunning) void this.#runAll();
  }

  #waitToLook(): void {
    const { receiver, clock } = this.#tools;
    clock.setTimer(() => {
      if (receiver.state === "stopped") return;
      if (receiver.state === "running" && elapsedBy(clock) >= this.#lookAt) this.kick();
      this.#waitToLook();
    }, WAKE_MS);
  }

  async #runAll(): Promise<void> {
    const { operator, clock, failures } = this.#tools;
    this.#isRunning = true;
    try {
      while (this.#looksAgain) {
        this.#looksAgain = false;
        while ((await operator().runJobPage()) !== undefined) {
          this.#trouble = null;
          await sleep(clock, BETWEEN_PAGES_MS);
        }
        this.#trouble = null;
      }
    } catch (error) {
      failures.note(error, "dashboard_job_interrupted");
      this.#trouble = troubleOf(error);
      if (isLost(error)) this.#lookAt = elapsedBy(clock);
    } finally {
      this.#isRunning = false;
    }
  }
}

/**
 * A store that is lost is asked again with each wake, so that the jobs go on as soon as it answers. Another failure may
 * be that of the page: after a few in a row the store gives its job up, for which what passes in minutes is no reason.
 */
function isLost(error: unknown): boolean {
  return isStoreAway(error) || isPigeonholeError(error, "store_replaced");
}
