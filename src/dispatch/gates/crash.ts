import type { Clock } from "../../base/clock.js";
import { MINUTE } from "../../base/duration.js";
import { LATE, inTime } from "../../base/wait.js";
import type { Gate, GatedWork } from "../gate.js";

/** Before work that must run alone, nothing else starts for this long. Runs end in it unless `timeoutMs` is raised. */
const QUIET_WAIT_MS = MINUTE;
/** It is tried again after this, so that longer runs do not block all others. */
const NOT_QUIET_WAIT_MS = 10 * MINUTE;

/** True of work that two processes died in. */
export const isCrashLooping = ({ crashes = 0 }: GatedWork): boolean => crashes > 1;

/**
 * Work that two processes died in runs one piece at a time while nothing else runs: a further crash must have only one
 * possible cause. Shut for all other work at first, and then for each such round.
 */
export class CrashGate implements Gate {
  readonly name = "crash";
  readonly keeps = "in_store";
  readonly #clock: Clock;
  #isShut = true;
  #running = 0;
  #noneRuns: (() => void) | undefined;
  #notBefore = 0;
  #round: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  allows(work: GatedWork): boolean {
    return !this.#isShut || isCrashLooping(work);
  }

  enter(): undefined {
    this.#running += 1;
  }

  leave(): void {
    this.#running -= 1;
    if (this.#running === 0) this.#noneRuns?.();
  }

  /** False for a while after other runs went on for too long to wait for their end. */
  get mayRun(): boolean {
    return this.#clock.now() >= this.#notBefore;
  }

  /** Shuts the gate, and opens it again after `round`, which begins when nothing runs. One round at a time. */
  run(round: () => Promise<void>): Promise<void> {
    this.#round ??= this.#runInQuiet(round).finally(() => {
      this.#isShut = false;
      this.#round = undefined;
    });
    return this.#round;
  }

  async #runInQuiet(round: () => Promise<void>): Promise<void> {
    this.#isShut = true;
    const quiet = new Promise<void>((resolve) => (this.#noneRuns = resolve));
    if (this.#running > 0 && (await inTime(quiet, this.#clock, QUIET_WAIT_MS)) === LATE) {
      this.#notBefore = this.#clock.now() + NOT_QUIET_WAIT_MS;
    } else {
      await round();
    }
  }
}
