import type { Clock } from "../base/clock.js";
import { HOUR } from "../base/duration.js";
import type { EventView } from "../store/inbox-view.js";
import type { Store } from "../store/store.js";
import type { Alarms } from "./alarms.js";
import { Reminder } from "./reminder.js";
import type { StoreFigures } from "./store-counter.js";

/** An unchanged problem is reported again after this. */
export const REMIND_MS = 6 * HOUR;

/** So many of the newest parked events say what the cause is: one is usually that of all. */
const READ_PARKED = 100;

export interface WorkAlarmsDeps {
  store: Pick<Store<unknown>, "list">;
  alarms: Alarms;
  clock: Clock;
  /** Work that has been due for longer is an alarm, and so are contact events that have waited for longer. */
  backlogAfterMs: number;
}

/** Raises alarms for figures that show work that makes no progress. */
export class WorkAlarms {
  readonly #deps: WorkAlarmsDeps;
  readonly #dead: Reminder;
  readonly #parked: Reminder;
  readonly #deadContactEvents: Reminder;
  readonly #backlog: Reminder;
  readonly #stuckContactEvents: Reminder;
  #crashLoops = 0;

  constructor(deps: WorkAlarmsDeps) {
    const { clock, backlogAfterMs } = deps;
    this.#deps = deps;
    this.#dead = new Reminder(clock, REMIND_MS);
    this.#parked = new Reminder(clock, REMIND_MS);
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

  #reportDead({ dead, parked, outbox }: StoreFigures): void {
    const { alarms } = this.#deps;
    if (this.#dead.isDue(dead)) alarms.raise({ kind: "work_dead", dead });
    // A store that fails is reported elsewhere.
    if (this.#parked.isDue(parked)) void this.#reportParked(parked).catch(() => undefined);
    if (this.#deadContactEvents.isDue(outbox.dead)) alarms.raise({ kind: "contact_events_dead", dead: outbox.dead });
  }

  async #reportParked(parked: number): Promise<void> {
    const { items } = await this.#deps.store.list({ state: "parked", limit: READ_PARKED });
    const [reason] = items.flatMap(reasonsOf);
    if (reason === undefined) return;
    const types = new Set(items.filter((event) => reasonsOf(event).includes(reason)).map(({ type }) => type));
    // What is not JSON has none.
    types.delete("");
    this.#deps.alarms.raise({ kind: "work_parked", reason, types: [...types], parked });
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

function reasonsOf({ handlers }: EventView): string[] {
  return handlers.flatMap(({ state, reason }) => (state === "parked" && reason !== undefined ? [reason] : []));
}
