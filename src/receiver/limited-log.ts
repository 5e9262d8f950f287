import type { Clock } from "../base/clock.js";
import { MINUTE } from "../base/duration.js";
import type { Logger } from "../base/logger.js";

/** Most lines of one kind in a minute. */
const MAX_LINES = 10;

interface Minute {
  lines: number;
  suppressed: number;
  end(): void;
}

/** Warnings that any sender can cause: at most 10 a minute for each kind, then one line with the count of the rest. */
export class LimitedLog {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #minutes = new Map<string, Minute>();

  constructor({ clock, logger }: { clock: Clock; logger: Logger }) {
    this.#clock = clock;
    this.#logger = logger;
  }

  warn(kind: string, fields: object, message: string): void {
    const minute = this.#minutes.get(kind) ?? this.#begin(kind, message);
    if (minute.lines === MAX_LINES) {
      minute.suppressed += 1;
      return;
    }
    minute.lines += 1;
    this.#logger.warn({ kind, ...fields }, message);
  }

  /** Logs the counts of the minutes that have begun. */
  stop(): void {
    for (const minute of this.#minutes.values()) minute.end();
  }

  #begin(kind: string, message: string): Minute {
    const end = (): void => {
      timer.cancel();
      this.#minutes.delete(kind);
      const { suppressed } = minute;
      if (suppressed > 0) this.#logger.warn({ kind, suppressed }, `${message}_suppressed`);
    };
    const timer = this.#clock.setTimer(end, MINUTE);
    const minute: Minute = { lines: 0, suppressed: 0, end };
    this.#minutes.set(kind, minute);
    return minute;
  }
}
