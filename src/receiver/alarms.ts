import type { Clock } from "../base/clock.js";
import { MINUTE } from "../base/duration.js";
import type { Logger } from "../base/logger.js";
import { ALARMS, type Alarm } from "./alarm-table.js";

/** An alarm as it was raised last. */
export interface RecentAlarm {
  alarm: Alarm;
  /** When it was raised first and last since it was over, in milliseconds since 1970. */
  since: number;
  at: number;
}

/** The same kind is logged and reported once in this time; counters keep counting. */
const REPEAT_MS = MINUTE;

/** An alarm whose end nothing shows is over when it was not raised for so long. */
const OVER_AFTER_MS = 10 * MINUTE;

export interface AlarmsDeps {
  logger: Logger;
  clock: Clock;
  hook: ((alarm: Alarm) => unknown) | undefined;
}

/** Logs alarms and hands them to the user's hook, each kind at most once a minute. */
export class Alarms {
  readonly #deps: AlarmsDeps;
  readonly #lastLogged = new Map<Alarm["kind"], number>();
  /** One of each kind, the last raised at the end. */
  readonly #recent = new Map<Alarm["kind"], RecentAlarm>();

  constructor(deps: AlarmsDeps) {
    this.#deps = deps;
  }

  raise(alarm: Alarm): void {
    const { logger, clock, hook } = this.#deps;
    const { kind, ...fields } = alarm;
    const now = clock.now();
    const before = this.#recent.get(kind);
    const since = before !== undefined && isRecent(before, now) ? before.since : now;
    this.#recent.delete(kind);
    this.#recent.set(kind, { alarm, since, at: now });
    const last = this.#lastLogged.get(kind);
    if (last !== undefined && now >= last && now - last < REPEAT_MS) return;
    this.#lastLogged.set(kind, now);
    const { severity = "error", advice } = ALARMS[kind];
    const line = { alarm: kind, ...fields, advice };
    if (severity === "warn") logger.warn(line, "alarm");
    else logger.error(line, "alarm");
    void this.#callHook(() => hook?.(alarm), kind);
  }

  /** Those that are not over, the last raised first. */
  get recent(): RecentAlarm[] {
    const now = this.#deps.clock.now();
    return [...this.#recent.values()].filter((each) => isRecent(each, now)).toReversed();
  }

  /** What it said is over. */
  end(kind: Alarm["kind"]): void {
    const { since = Infinity } = this.#recent.get(kind) ?? {};
    this.#recent.delete(kind);
    // Only what a line said is over.
    if ((this.#lastLogged.get(kind) ?? -Infinity) < since) return;
    this.#deps.logger.info({ alarm: kind, over: ALARMS[kind].over }, "alarm_over");
  }

  /** The hook may be asynchronous; an unhandled rejection would end the process. */
  async #callHook(call: () => unknown, kind: Alarm["kind"]): Promise<void> {
    try {
      await call();
    } catch {
      this.#deps.logger.error({ alarm: kind }, "alarm_hook_threw");
    }
  }
}

/** A time that is ahead says that the clock was set back. */
function isRecent({ alarm, at }: RecentAlarm, now: number): boolean {
  return ALARMS[alarm.kind].over !== undefined || Math.abs(now - at) < OVER_AFTER_MS;
}
