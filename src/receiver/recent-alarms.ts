import { MINUTE } from "../base/duration.js";

/** An alarm that was not raised for so long is over: what lasts raises it again within minutes. */
const OVER_AFTER_MS = 10 * MINUTE;

/** An alarm as it was raised last. */
export interface RecentAlarm<Alarm> {
  alarm: Alarm;
  /** When it was raised first and last since it was over, in milliseconds since 1970. */
  since: number;
  at: number;
}

/** The alarms of a process that are not over, one of each kind. */
export class RecentAlarms<Alarm extends { kind: string }> {
  readonly #byKind = new Map<Alarm["kind"], RecentAlarm<Alarm>>();

  note(alarm: Alarm, now: number): void {
    const before = this.#byKind.get(alarm.kind);
    const goesOn = before !== undefined && isRecent(before, now);
    // It moves to the end.
    this.#byKind.delete(alarm.kind);
    this.#byKind.set(alarm.kind, { alarm, since: goesOn ? before.since : now, at: now });
  }

  /** The last raised first. */
  list(now: number): RecentAlarm<Alarm>[] {
    return [...this.#byKind.values()].filter((each) => isRecent(each, now)).toReversed();
  }
}

/** A time that is ahead says that the clock was set back. */
function isRecent({ at }: RecentAlarm<unknown>, now: number): boolean {
  return Math.abs(now - at) < OVER_AFTER_MS;
}
