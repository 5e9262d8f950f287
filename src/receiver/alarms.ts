import type { Clock } from "../base/clock.js";
import { HOUR, MINUTE } from "../base/duration.js";
import type { Logger } from "../base/logger.js";
import { ALARMS, type Alarm } from "./alarm-table.js";

/** An alarm as it was raised last. */
export interface RecentAlarm {
  alarm: Alarm;
  /** When it was raised first and last since it was over, in milliseconds since 1970. */
  since: number;
  at: number;
}

/** The same, with how bad it was when that was last shown; 0 for one that is only raised. */
interface RaisedAlarm extends RecentAlarm {
  level: number;
}

/** The same kind is logged and reported once in this time; counters keep counting. */
const REPEAT_MS = MINUTE;

/** A problem that has not grown is reported again after this. */
const REMIND_MS = 6 * HOUR;

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
  readonly #recent = new Map<Alarm["kind"], RaisedAlarm>();

  constructor(deps: AlarmsDeps) {
    this.#deps = deps;
  }

  /**
   * Takes how bad a problem is now, such as a count; 0 where there is none, which ends the alarm. It is raised when the
   * level grows, and again after `againMs`.
   */
  show(alarm: Alarm, level: number, againMs = REMIND_MS): void {
    const last = this.#recent.get(alarm.kind);
    if (level === 0) {
      if (last !== undefined) this.#end(last);
      return;
    }
    if (last !== undefined && level <= last.level) {
      last.level = level;
      if (isWithin(againMs, last.at, this.#deps.clock.now())) return;
    }
    this.raise(alarm, level);
  }

  /** Reports a problem that has happened now. */
  raise(alarm: Alarm, level = 0): void {
    const { logger, clock, hook } = this.#deps;
    const { kind, ...fields } = alarm;
    const now = clock.now();
    const before = this.#recent.get(kind);
    const since = before !== undefined && isRecent(before, now) ? before.since : now;
    this.#recent.delete(kind);
    this.#recent.set(kind, { alarm, since, at: now, level });
    const last = this.#lastLogged.get(kind);
    if (last !== undefined && isWithin(REPEAT_MS, last, now)) return;
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
  #end({ alarm: { kind }, since }: RecentAlarm): void {
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

/** A time in the future is from a clock that has since been set back. */
function isWithin(ms: number, at: number, now: number): boolean {
  return now >= at && now - at < ms;
}

/** A time that is ahead says that the clock was set back. */
function isRecent({ alarm, at }: RecentAlarm, now: number): boolean {
  return ALARMS[alarm.kind].over !== undefined || Math.abs(now - at) < OVER_AFTER_MS;
}
