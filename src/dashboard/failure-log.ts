import type { Clock } from "../base/clock.js";
import { MINUTE } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import { isPigeonholeError } from "../base/error.js";
import type { Logger } from "../base/logger.js";

/** A failure that was not seen for so long is over; the job runner looks more often. */
const OVER_AFTER_MS = MINUTE;

/** Logs failures. A store that cannot be used fails every request of every page; that is logged once while it lasts. */
export class FailureLog {
  readonly #logger: Logger;
  readonly #clock: Pick<Clock, "now">;
  #hasNotedRows = false;
  #originNotedAt: number | undefined;
  /** When each code of a store's error was last seen. */
  readonly #seenAt = new Map<string, number>();

  constructor(logger: Logger, clock: Pick<Clock, "now">) {
    this.#logger = logger;
    this.#clock = clock;
  }

  /** `message`: the name of the log line. An error of this package is logged once per code; `stopped` is none. */
  note(error: unknown, message: "dashboard_failed" | "dashboard_job_interrupted"): void {
    if (!isPigeonholeError(error)) {
      this.#logger.error(errorFields(error, false), message);
      return;
    }
    const { code } = error;
    if (code === "stopped") return;
    const now = this.#clock.now();
    const last = this.#seenAt.get(code);
    this.#seenAt.set(code, now);
    if (last !== undefined && now >= last && now - last < OVER_AFTER_MS) return;
    this.#logger.error(errorFields(error, true), message);
  }

  /** An action whose page is not where the dashboard seems to be; logged at most once a minute. */
  noteOrigin(hosts: { page: string; dashboard: string }): void {
    const now = this.#clock.now();
    const last = this.#originNotedAt;
    if (last !== undefined && now >= last && now - last < OVER_AFTER_MS) return;
    this.#originNotedAt = now;
    this.#logger.warn(hosts, "dashboard_origin_refused");
  }

  /** Rows of figures that the plots leave out; logged once. */
  noteUnreadable(rows: number): void {
    if (rows === 0 || this.#hasNotedRows) return;
    this.#hasNotedRows = true;
    this.#logger.warn({ rows }, "dashboard_figures_unreadable");
  }
}
