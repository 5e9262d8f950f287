import type { Clock } from "../base/clock.js";
import { HOUR } from "../base/duration.js";
import type { Alarms } from "./alarms.js";
import { Reminder } from "./reminder.js";
import type { StoreFigures } from "./store-counter.js";

/** An unchanged problem is reported again after this. */
export const REMIND_MS = 6 * HOUR;

export interface WorkAlarmsDeps {
  alarms: Alarms;
  clock: Clock;
  /** Work that has been due for longer is an alarm, and so are contact events that have waited for longer. */
  backlogAfterMs: number;
}

/** Raises alarms for figures that show work that makes no progress. */
export class WorkAlarms {
  readonly #deps: WorkAlarmsDeps;
  readonly #dead: Reminder;
  readonly #deadContactEvents: Reminder;
  readonly #backlog: Reminder;
  readonly #stuckContactEvents: Reminder;
  #crashLoops = 0;

  constructor(deps: WorkAlarmsDeps) {
    const { clock, backlogAfterMs } = deps;
    this.#deps = deps;
    this.#dead = new Reminder(clock, REMIND_MS);
    this.#deadContactEvents = new Reminder(clock, REMIND_MS);
    this.#backlog = new Reminder(clock, backlogAfterMs);
    this.#stuckContactEvents = new Reminder(clock, backlogAfterMs);
  }

  /** `parked`: since the start of the process, because others had died in the work. */
  sawCrashLoops(parked: number): void {
    if (parked > this.#crashLoops) this.#deps.alarms.raise({ kind: "crash_loop", parked });
    this.#crashLoops = parked;
  }

  sawFigures(figures: StoreFigures): void {
    this.#reportDead(figures);
    this.#reportBacklog(figures);
  }

  #reportDead({ dead, outbox }: StoreFigures): void {
    const { alarms } = this.#deps;
    if (this.#dead.isDue(dead)) alarms.raise({ kind: "work_dead", dead });
    if (this.#deadContactEvents.isDue(outbox.dead)) alarms.raise({ kind: "contact_events_dead", dead: outbox.dead });
  }

  #reportBacklog({ pending, leased, lagMs, outbox }: StoreFigures): void {
    const { alarms, backlogAfterMs } = this.#deps;
    if (this.#backlog.isDue(lagMs > backlogAfterMs ? 1 : 0)) {
      alarms.raise({ kind: "backlog", forMs: lagMs, pending: pending + leased });
    }
    if (this.#stuckContactEvents.isDue(outbox.oldestAgeMs > backlogAfterMs ? 1 : 0)) {
      const { pending: waiting, leased: underWay, oldestAgeMs } = outbox;
      alarms.raise({ kind: "contact_events_stuck", forMs: oldestAgeMs, pending: waiting + underWay });
    }
  }
}
