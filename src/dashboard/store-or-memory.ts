import { waitingClock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { LATE, inTime } from "../base/wait.js";
import type { ReceiverParts } from "../receiver/receiver-parts.js";
import type { StoreTrouble } from "./state-now.js";
import type { FailureLog } from "./failure-log.js";
import { troubleOf, troubleOfStart } from "./store-trouble.js";

/** The overview is shown from memory rather than later. */
const READ_WITHIN_MS = 5 * SECOND;

export interface StoreOrMemoryTools {
  receiver: Pick<ReceiverParts, "path" | "watches">;
  failures: FailureLog;
}

/** Reads what the overview shows: of all processes from the store, or of this one from memory while that fails. */
export class StoreOrMemory {
  readonly #tools: StoreOrMemoryTools;
  /** Reads that were given up and have not ended: another one would wait behind them. */
  #overdue = 0;

  constructor(tools: StoreOrMemoryTools) {
    this.#tools = tools;
  }

  /** Throws `stopped` once the receiver stops: its memory is no longer what happens. */
  checkRunning(): void {
    if (this.isOver) throw hasStopped();
  }

  /** True once the receiver stops. */
  get isOver(): boolean {
    const { state } = this.#tools.receiver.path.admission;
    return state === "stopping" || state === "stopped";
  }

  /** Rejects with `stopped` once the receiver stops, and with nothing else. */
  async read<Value>(fromStore: () => Promise<Value>, fromMemory: (trouble: StoreTrouble) => Value): Promise<Value> {
    try {
      return await this.#readInTime(fromStore);
    } catch (error) {
      this.checkRunning();
      return fromMemory(this.#troubleOf(error));
    }
  }

  async #readInTime<Value>(fromStore: () => Promise<Value>): Promise<Value> {
    if (this.#overdue > 0) throw late();
    const reading = this.#readAndNote(fromStore);
    const result = await inTime(reading, waitingClock, READ_WITHIN_MS);
    if (result !== LATE) return result;
    this.#overdue += 1;
    const end = (): void => void (this.#overdue -= 1);
    reading.then(end, end);
    throw late();
  }

  /** What it fails with is logged also if that comes late. */
  async #readAndNote<Value>(fromStore: () => Promise<Value>): Promise<Value> {
    try {
      return await fromStore();
    } catch (error) {
      this.#tools.failures.note(error, "dashboard_failed");
      throw error;
    }
  }

  #troubleOf(error: unknown): StoreTrouble {
    return troubleOfStart(this.#tools.receiver) ?? troubleOf(error);
  }
}

export function hasStopped(): PigeonholeError {
  return new PigeonholeError("stopped", "The receiver has stopped; its dashboard works until then.");
}

function late(): PigeonholeError {
  return new PigeonholeError("store_busy", `The store has not answered for ${READ_WITHIN_MS / SECOND} s.`);
}
